#include "sim/sweep/results/file_lock.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "sim/sweep/results/result_row.hpp"

namespace rayreplay::sweep {
namespace {

namespace fs = std::filesystem;

std::string content(int descriptor) {
  std::array<char, 512> bytes{};
  const ssize_t count = ::pread(descriptor, bytes.data(), bytes.size(), 0);
  std::string text(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  for (char& c : text) {
    c = c >= ' ' && c <= '~' ? c : ' ';
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

[[noreturn]] void refuse(const fs::path& what, const std::string& holder) {
  throw Error(ErrorKind::Output,
              {"another process writes this database", what.string(), holder.empty() ? "" : "process " + holder, "",
               "wait for it or end it, or choose another name with -o"});
}

[[noreturn]] void fail(const fs::path& path, int error) {
  throw Error(ErrorKind::Output, {"cannot lock the database", path.string(), std::strerror(error), "",
                                  "choose a folder that you may write to, on a file system with locks"});
}

/// Locking overwrites the file's content.
[[noreturn]] void refuse_kind(const fs::path& path, const char* found) {
  throw Error(ErrorKind::Output, {"the lock of a database is not a file that rayreplay made", path.string(), found,
                                  "a regular file, or nothing", "check its owner, and remove it"});
}

bool still_there(int descriptor, const fs::path& path) {
  struct stat ours {
  }, now{};
  return ::fstat(descriptor, &ours) == 0 && ::stat(path.c_str(), &now) == 0 && ours.st_ino == now.st_ino &&
         ours.st_dev == now.st_dev;
}

}  // namespace

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

FileLock::FileLock(fs::path lock_file, const fs::path& what) : path_(std::move(lock_file)) {
  for (;;) {
    // All processes must find the lock, so its name is fixed: another user may have put a link or a FIFO there.
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0644);
    if (descriptor_ < 0) {
      if (errno == ELOOP) {
        refuse_kind(path_, "a symbolic link");
      }
      const int error = errno;
      require_folder_of(what);
      fail(path_, error);
    }
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1) {
      ::close(descriptor_);
      refuse_kind(path_, S_ISREG(status.st_mode) ? "a file of several names" : "no regular file");
    }
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(descriptor_, F_OFD_SETLK, &lock) != 0) {
      const int error = errno;
      const std::string holder = content(descriptor_);
      ::close(descriptor_);
      if (error == EACCES || error == EAGAIN) {
        refuse(what, holder);
      }
      fail(path_, error);
    }
    if (still_there(descriptor_, path_)) {
      break;
    }
    ::close(descriptor_);  // the holder removed the file between our open and lock
  }
  was_left_ = leave_ = !content(descriptor_).empty();
  const std::string text = fmt::format("{} {}\n", ::getpid(), host_name());
  if (::ftruncate(descriptor_, 0) != 0 ||
      ::pwrite(descriptor_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    const int error = errno;
    ::close(descriptor_);
    fail(path_, error);
  }
}

FileLock::~FileLock() {
  if (!leave_) {
    ::unlink(path_.c_str());  // before the release: the next process to lock this file sees that it was removed
  }
  ::close(descriptor_);
}

}  // namespace rayreplay::sweep
