// A device buffer that grows to the largest size requested so far.
//
// Contract: `get` and `take` require an earlier `need` or `of`. Growth waits for the stream if a buffer existed.
// Errors: DeviceError.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

class Growing {
 public:
  explicit Growing(const char* what) : what_(what) {}

  /// Grows the buffer to at least `bytes` and keeps its first `keep` bytes. Growth of an existing buffer adds a
  /// quarter.
  void need(Device& device, Stream& stream, std::uint64_t bytes, std::uint64_t keep = 0) {
    if (buffer_ && buffer_->bytes() >= bytes) {
      return;
    }
    if (!buffer_) {
      buffer_ = device.allocate(bytes, what_);
      return;
    }
    if (keep == 0) {
      stream.wait();
      buffer_.reset();
    }
    Buffer larger = device.allocate(bytes + bytes / 4, what_);
    if (keep > 0) {
      stream.copy(*buffer_, 0, larger, 0, keep);
      stream.wait();
    }
    buffer_ = std::move(larger);
  }
  /// Calls `need` and returns the buffer.
  const Buffer& of(Device& device, Stream& stream, std::uint64_t bytes) {
    need(device, stream, bytes);
    return get();
  }
  [[nodiscard]] const Buffer& get() const {
    return *buffer_;
  }
  [[nodiscard]] std::uint64_t address() const {
    return buffer_ ? buffer_->address() : 0;
  }
  [[nodiscard]] Buffer take() {
    return std::move(*buffer_);
  }

 private:
  const char* what_;
  std::optional<Buffer> buffer_;
};

}  // namespace rayreplay::kernels
