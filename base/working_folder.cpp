#include "base/working_folder.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace rayreplay {

void require_working_folder(ErrorKind kind) {
  std::error_code error;
  static_cast<void>(std::filesystem::current_path(error));
  if (error.value() == ENOENT) {
    throw Error(kind, {"the folder that this command was started in has been deleted", "", "", "",
                       "change to a folder that exists, or name files by their whole path"});
  }
}

}  // namespace rayreplay
