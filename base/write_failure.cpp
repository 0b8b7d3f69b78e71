#include "base/write_failure.hpp"

#include <cerrno>

namespace rayreplay {

std::string fix_of_write_failure(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free space on that disk, or write to another one";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to";
    case EFBIG:
      return "raise the limit on the size of files (ulimit -f), or write to another disk";
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files (ulimit -n)";
    case ENAMETOOLONG:
    case ELOOP:
      return "choose another name";
    case ENOENT:
    case ENOTDIR:
      return "check the name of the output's folder";
    default:
      return "check that disk or device, or write to another one";
  }
}

}  // namespace rayreplay
