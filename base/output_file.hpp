// Atomic output files: written under a temporary name, then renamed.
//
// Contract: `OutputFile` reserves `path`: it throws Output if the path exists (unless `overwrite`) or if its folder
// does not. It creates the temporary beside it (base/temporary.hpp: a random name, never through a link, locked while
// it lives) and removes what killed processes left of the same output. The caller writes to `descriptor()`; `commit()`
// flushes it to disk and renames it into place; without commit the destructor removes the temporary. A failed write,
// such as a full disk, thus leaves the old file, if any, as it was. `OutputStream` is a std::ostream that writes to an
// `OutputFile`; its failed writes throw Output. `write_file` writes a text from memory in the same steps; a device or a
// pipe, such as /dev/stdout, is written directly.
//
// The process keeps a list of unfinished temporaries, so that a handler of termination can remove them
// (`remove_unfinished_outputs`).
#pragma once

#include <filesystem>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary.hpp"

namespace rayreplay {

class OutputFile {
 public:
  OutputFile(std::filesystem::path path, bool overwrite);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const {
    return path_;
  }
  /// The temporary's descriptor, open for reading and writing. There is no access by name, because another file may
  /// have taken the name.
  [[nodiscard]] int descriptor() const {
    return temporary_.file.get();
  }
  /// Appends. Throws Output with the system's reason.
  void write(std::string_view bytes);
  void commit();

 private:
  std::filesystem::path path_;
  Temporary temporary_;
  bool overwrite_ = false;
  bool committed_ = false;
};

class OutputStream : public std::ostream {
 public:
  explicit OutputStream(OutputFile& file);
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;
  ~OutputStream() override = default;
  /// Flushes the buffer; to be called before the file's `commit`.
  void finish();

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(OutputFile& file);

   protected:
    int_type overflow(int_type character) override;
    std::streamsize xsputn(const char* bytes, std::streamsize count) override;
    int sync() override;

   private:
    OutputFile* file_;
    std::vector<char> waiting_;
  };
  Buffer buffer_;
};

/// A temporary file or folder that must not outlive the process. `forget_temporary` once it is finished or gone.
void remember_temporary(const std::filesystem::path& path);
/// Temporaries of base/temporary.hpp that are remembered from their first instant on.
[[nodiscard]] Temporary create_remembered_file(const std::filesystem::path& output);
[[nodiscard]] Temporary create_remembered_folder(const std::filesystem::path& output);
void forget_temporary(const std::filesystem::path& path);

/// Removes every remembered temporary and blocks all later commits: call it from an ordinary thread (not from a signal
/// handler) and leave the process right after.
void remove_unfinished_outputs() noexcept;

/// Writes all bytes; "-" is standard output. Throws Output with the system's reason.
void write_file(const std::filesystem::path& path, std::string_view bytes, bool overwrite);

/// Throws Output unless the path's folder exists and can be written to.
void require_folder_of(const std::filesystem::path& path);

/// The same check; also throws Output if `path` is a folder or device, or exists and `overwrite` is false. For checks
/// before long work.
void require_writable(const std::filesystem::path& path, bool overwrite);

}  // namespace rayreplay
