#include "capture/spool/guest_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace rayreplay::spool {
namespace {

constexpr int kStandard = 3;  ///< descriptors of standard input, output and errors

/// Occupies closed standard descriptors. O_PATH: reading and writing them still fails with EBADF.
class StandardHeld {
 public:
  StandardHeld() noexcept {
    for (int standard = 0; standard < kStandard; ++standard) {
      if (fcntl(standard, F_GETFD) >= 0 || errno != EBADF) {
        continue;
      }
      const int held = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
      if (held < 0 || held >= kStandard) {
        release(held);
        return;
      }
      held_.at(static_cast<std::size_t>(count_++)) = held;
    }
  }
  StandardHeld(const StandardHeld&) = delete;
  StandardHeld& operator=(const StandardHeld&) = delete;
  ~StandardHeld() {
    for (int i = 0; i < count_; ++i) {
      release(held_.at(static_cast<std::size_t>(i)));
    }
  }

 private:
  /// Another thread may have put its own file here by dup2.
  static void release(int held) noexcept {
    const int flags = held < 0 ? -1 : fcntl(held, F_GETFL);
    if (flags >= 0 && (flags & O_PATH) != 0) {
      close(held);
    }
  }

  std::array<int, kStandard> held_{};
  int count_ = 0;
};

std::string reason() {
  char text[128] = {};
  // The GNU form of strerror_r returns the text, which need not be in the buffer.
  return strerror_r(errno, text, sizeof text);
}

/// Closes it at the end.
struct Descriptor {
  explicit Descriptor(int of) : number(of) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) {
      close(number);
    }
  }
  int number;
};

}  // namespace

int open_apart(const char* path, int flags, mode_t mode) noexcept {
  const StandardHeld held;
  const int made = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
  if (made < 0 || made >= kStandard) {
    return made;
  }
  // Another thread closed a standard descriptor just now.
  const int moved = fcntl(made, F_DUPFD_CLOEXEC, kStandard);
  const int error = errno;
  close(made);
  errno = error;
  return moved;
}

std::optional<std::string> read_regular(const std::string& path, std::uint64_t most, std::string& why) {
  const Descriptor file(open_apart(path.c_str(), O_RDONLY | O_NONBLOCK));
  struct stat status {};
  if (file.number < 0 || fstat(file.number, &status) != 0) {
    why = "it cannot be opened: " + reason();
    return std::nullopt;
  }
  if (!S_ISREG(status.st_mode)) {
    why = "it is no regular file";
    return std::nullopt;
  }
  std::string content;
  for (;;) {
    const auto before = content.size();
    // Reading one byte more than allowed detects larger files.
    const auto room = std::min<std::uint64_t>(most + 1 - before, std::max<std::uint64_t>(before, 65536));
    content.resize(before + room);
    const ssize_t got = read(file.number, content.data() + before, room);
    if (got < 0 && errno == EINTR) {
      content.resize(before);
      continue;
    }
    if (got < 0) {
      why = "it cannot be read: " + reason();
      return std::nullopt;
    }
    content.resize(before + static_cast<std::size_t>(got));
    if (content.size() > most) {
      why = "it has more than " + std::to_string(most) + " bytes";
      return std::nullopt;
    }
    if (got == 0) {
      return content;
    }
  }
}

bool make_private_folders(const std::string& path) {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    const std::string folder = path.substr(0, end);
    if (folder.empty() || mkdir(folder.c_str(), 0700) == 0) {
      continue;
    }
    const int error = errno;  // an existing folder may lie in one that is not writable
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
      errno = error == EEXIST ? ENOTDIR : error;
      return false;
    }
  }
  return true;
}

}  // namespace rayreplay::spool
