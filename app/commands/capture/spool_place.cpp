#include "app/commands/capture/spool_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file_descriptor.hpp"
#include "base/shell_word.hpp"
#include "base/temporary.hpp"
#include "capture/spool/guest_files.hpp"
#include "capture/spool/writer.hpp"

namespace rayreplay::app {

namespace fs = std::filesystem;

void remove_spool(const fs::path& folder, const std::vector<fs::path>& files) {
  std::error_code error;
  for (const fs::path& file : files) {
    fs::remove(file, error);
  }
  fs::remove(folder / kFlatSwizzle, error);
  fs::remove(folder, error);
}

std::vector<fs::path> spools_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == spool::kFileExtension) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// For a spool that becomes no trace. Its name is random and its mode is for this user only, because all users share
/// the temporary folder. It is locked until this process ends; the next capture removes folders of killed processes.
fs::path make_temporary_folder() {
  constexpr std::string_view kStart = "rayreplay-spool-";
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  const auto is_ours = [&](const std::string& name) {
    return name.starts_with(kStart) && name.size() == kStart.size() + random_digits().size();
  };
  if (!error) {
    visit_abandoned_folders(parent, is_ours, [](const fs::path& folder) { remove_spool(folder, spools_in(folder)); });
  }
  const fs::path path = parent / (std::string(kStart) + random_digits());
  if (error || ::mkdir(path.c_str(), S_IRWXU) != 0) {
    throw Error(ErrorKind::Output,
                {"the folder for the spool cannot be made", path.string(),
                 error ? error.message() : std::strerror(errno), "", "set TMPDIR to a folder that can be written"});
  }
  static FileDescriptor lock;
  lock = FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  static_cast<void>(lock.valid() && lock_temporary(lock.get()));
  return path;
}

fs::path make_spool_folder(const std::string& output, bool force) {
  if (output.empty()) {
    return make_temporary_folder();
  }
  std::error_code error;
  const fs::path folder = fs::absolute(output + ".spool");
  if (fs::exists(folder, error)) {
    if (!force) {
      throw Error(ErrorKind::Output,
                  {"a spool of an earlier capture is still there", folder.string(), "", "",
                   fmt::format("'rayreplay ingest {} -o {}' makes a trace of it; --force throws it away",
                               shell_word(folder.string()), shell_word(output))});
    }
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == spool::kFileExtension || entry.path().extension() == spool::kFailedExtension) {
        fs::remove(entry.path(), error);
      }
    }
  }
  // For its owner only, because spools contain command lines and shaders.
  if (!spool::make_private_folders(folder.string())) {
    throw Error(ErrorKind::Output, {"the folder for the spool cannot be made", folder.string(), std::strerror(errno),
                                    "", "write to another place"});
  }
  return folder;
}

}  // namespace rayreplay::app
