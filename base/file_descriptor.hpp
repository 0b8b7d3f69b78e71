// RAII owner of a POSIX file descriptor, and complete writes to one.
//
// Contract: the destructor closes the file; moving transfers it. Errors are returned as errno; nothing is thrown.
#pragma once

#include <cerrno>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace rayreplay {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  /// `value`: the result of open(); negative: no file.
  explicit FileDescriptor(int value) : value_(value) {}
  ~FileDescriptor() {
    close();
  }
  FileDescriptor(FileDescriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      close();
      value_ = std::exchange(other.value_, -1);
    }
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  [[nodiscard]] int get() const {
    return value_;
  }
  [[nodiscard]] bool valid() const {
    return value_ >= 0;
  }
  /// Returns 0 or the errno of close(), which is where a network file system may report a failed write.
  int close() {
    const int descriptor = std::exchange(value_, -1);
    return descriptor < 0 || ::close(descriptor) == 0 ? 0 : errno;
  }

 private:
  int value_ = -1;
};

/// Repeats write() until all bytes are written. Returns 0 or the errno of the failed write.
[[nodiscard]] inline int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return 0;
}

}  // namespace rayreplay
