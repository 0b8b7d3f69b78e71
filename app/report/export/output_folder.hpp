// Output folder that is complete or absent: files are written into a temporary folder beside it, which then replaces
// it.
//
// Contract: the constructor throws Output if `path` is a file, or a folder that is not empty (unless `overwrite`), or
// if its parent does not exist. `overwrite` replaces a folder only if all its files are the tool's own by a
// `FolderKind`; any other file belongs to the user and is named in the error. Files are written directly into
// `temporary_path()`; `commit` checks again and replaces the folder. Old and new folder are exchanged atomically if the
// file system supports it, else by two renames; an interruption between these leaves both complete beside `path`. After
// that the tool's own files of the old folder are removed one by one. Without commit the destructor removes the
// temporary (base/temporary.hpp). The tool's files in temporaries that killed runs left of the same folder are removed
// too.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary.hpp"

namespace rayreplay::output {

/// Identifies a folder that the tool wrote.
struct FolderKind {
  std::string marked_file;                ///< must exist …
  std::string mark;                       ///< … with these bytes among its first kilobytes
  bool (*is_own)(std::string_view name);  ///< true for names of files that the tool writes there
};

class OutputFolder {
 public:
  OutputFolder(const std::filesystem::path& path, bool overwrite, FolderKind kind);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const {
    return path_;
  }
  [[nodiscard]] const std::filesystem::path& temporary_path() const {
    return temporary_.path;
  }
  void commit();

 private:
  std::filesystem::path path_;
  Temporary temporary_;
  FolderKind kind_;
  bool overwrite_ = false;
  bool committed_ = false;
};

/// Only the constructor's checks, for commands that compute for a long time before they write.
void require_folder_writable(const std::filesystem::path& given, bool overwrite, const FolderKind& kind);

}  // namespace rayreplay::output
