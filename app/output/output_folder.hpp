// Output folder that is whole or not there: files are written into a folder beside it, which then takes its place.
//
// Contract: the constructor throws Output when `path` is a file, or a folder that is not empty (unless `overwrite`), or
// when its parent does not exist. `overwrite` replaces only a folder that holds nothing but what a `FolderKind` says
// the tool writes itself: anything else there is the user's own, and is named in the error. Files are written into
// `temporary_path()`, directly; `commit` looks again and puts it into place. Old and new folder are exchanged in one
// step where the file system can (else by two renames, between which an interruption leaves both beside `path`, whole);
// only then the tool's own files among the old ones are removed, one by one. Without commit the destructor removes the
// temporary. The temporary is one of base/temporary.hpp: the tool's own files in temporaries that killed runs left of
// the same folder are removed, too.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary.hpp"

namespace rayreplay::output {

/// By what a folder that the tool wrote is known.
struct FolderKind {
  std::string marked_file;                ///< it must be there …
  std::string mark;                       ///< … with these bytes among its first kilobytes
  bool (*is_own)(std::string_view name);  ///< whether the tool writes a file of this name there
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

/// The constructor's checks alone: for commands that work long before they write.
void require_folder_writable(const std::filesystem::path& given, bool overwrite, const FolderKind& kind);

}  // namespace rayreplay::output
