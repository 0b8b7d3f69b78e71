#include "capture/import/byte_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::import {
namespace {

constexpr std::size_t kBuffer = 1U << 18U;

}  // namespace

ByteSource::ByteSource(const std::string& path) : name_(path == "-" ? "standard input" : path) {
  XXH3_INITSTATE(&state_);
  XXH3_128bits_reset(&state_);
  descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
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
