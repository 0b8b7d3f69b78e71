// An open file of the system, closed at the end, and writing to it.
#pragma once

#include <cerrno>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace rayreplay {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  /// What open() gave; below 0: there is none.
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
  /// Closes now. 0, or the errno of the close: a network file system may say there that a write failed.
  int close() {
    const int descriptor = std::exchange(value_, -1);
    return descriptor < 0 || ::close(descriptor) == 0 ? 0 : errno;
  }

 private:
  int value_ = -1;
};

/// Every byte, though the system may take fewer at a time. 0, or the errno of the write that failed.
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
