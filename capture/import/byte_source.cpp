#include "capture/import/byte_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::import {
namespace {

constexpr std::size_t kBuffer = 1U << 18U;
constexpr int kNoticeMilliseconds = 1000;

/// A blocking open() waits silently for a pipe's writer. So the pipe is opened non-blocking and polled until it has
/// bytes or its writer has closed it.
int open_waiting(const std::string& path, const WaitNotice& on_wait) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return descriptor;
  }
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode)) {
    pollfd pipe{descriptor, POLLIN, 0};
    int milliseconds = kNoticeMilliseconds;
    for (int ready = 0; ready <= 0;) {
      ready = ::poll(&pipe, 1, milliseconds);
      if (ready < 0 && errno != EINTR) {
        break;  // the following read reports the error
      }
      if (ready == 0) {
        if (on_wait) {
          on_wait(path);
        }
        milliseconds = -1;
      }
    }
  }
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  return descriptor;
}

}  // namespace

ByteSource::ByteSource(const std::string& path, const WaitNotice& on_wait)
    : name_(path == "-" ? "standard input" : path) {
  XXH3_INITSTATE(&state_);
  XXH3_128bits_reset(&state_);
  descriptor_ = path == "-" ? STDIN_FILENO : open_waiting(path, on_wait);
  if (descriptor_ < 0) {
    throw Error(ErrorKind::Input, {"cannot open the memory trace", name_, std::strerror(errno),
                                   "a file or a pipe that can be read", "check the path, and who may read it"});
  }
}

ByteSource::~ByteSource() {
  if (descriptor_ > STDIN_FILENO) {
    ::close(descriptor_);
  }
}

std::string_view ByteSource::peek(std::size_t bytes) {
  if (end_ - begin_ < bytes && !at_end_) {
    if (begin_ != 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    buffer_.resize(std::max({buffer_.size(), kBuffer, bytes}));
    while (end_ < bytes && !at_end_) {
      const ssize_t got = ::read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
      if (got < 0 && errno != EINTR) {
        throw Error(ErrorKind::Input, {"cannot read the memory trace", name_, std::strerror(errno),
                                       "a file or a pipe that can be read", "check the path, and who may read it"});
      }
      at_end_ = got == 0;
      end_ += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
  }
  return {buffer_.data() + begin_, end_ - begin_};
}

void ByteSource::consume(std::size_t bytes) {
  if (bytes == 0) {
    return;
  }
  XXH3_128bits_update(&state_, buffer_.data() + begin_, bytes);
  begin_ += bytes;
  offset_ += bytes;
}

std::string ByteSource::hash() const {
  const XXH128_hash_t value = XXH3_128bits_digest(&state_);
  return fmt::format("{:016x}{:016x}", value.high64, value.low64);
}

}  // namespace rayreplay::import
