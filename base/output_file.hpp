// Output that is whole or not there: write aside, then rename.
//
// Contract: `OutputFile` reserves `path`: it throws Output if the path exists (unless `overwrite`) or if its folder
// does not. The caller writes to `temporary_path()` in the same folder; `commit()` flushes it to disk and renames it
// into place; without commit the destructor removes the temporary. A failed write, such as a full disk, thus leaves the
// old file, if any, as it was. `write_file` does all of it for text and bytes held in memory; to a device or a pipe,
// such as /dev/stdout, it writes straight.
//
// Temporaries are known to the process while they are unfinished, so that one that is about to be ended by a signal can
// take them along: `remove_unfinished_outputs`.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

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
  [[nodiscard]] const std::filesystem::path& temporary_path() const {
    return temporary_;
  }
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  bool overwrite_ = false;
  bool committed_ = false;
};

/// A temporary file or folder that must not outlive the process. `forget_temporary` once it is finished or gone.
void remember_temporary(const std::filesystem::path& path);
void forget_temporary(const std::filesystem::path& path);

/// Removes every remembered temporary and blocks all later commits: call it from an ordinary thread (not from a signal
/// handler) and leave the process right after.
void remove_unfinished_outputs() noexcept;

/// Writes all bytes; "-" is standard output. Throws Output with the system's reason.
void write_file(const std::filesystem::path& path, std::string_view bytes, bool overwrite);

/// Throws Output if `path` exists and `overwrite` is false: for checks before long work.
void require_writable(const std::filesystem::path& path, bool overwrite);

}  // namespace rayreplay
