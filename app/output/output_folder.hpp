// Output folder that is whole or not there: files are written into a folder beside it, which is then renamed.
//
// Contract: the constructor throws Output when `path` is a file, or a folder that is not empty (unless `overwrite`), or
// when its parent does not exist. Files are written into `temporary_path()`; `commit` renames it into place, and an old
// folder is removed only after the new one stands there. Without commit the destructor removes the temporary.
#pragma once

#include <filesystem>

namespace rayreplay::output {

class OutputFolder {
 public:
  OutputFolder(std::filesystem::path path, bool overwrite);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

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
  bool committed_ = false;
};

/// The constructor's checks alone: for commands that work long before they write.
void require_folder_writable(const std::filesystem::path& path, bool overwrite);

}  // namespace rayreplay::output
