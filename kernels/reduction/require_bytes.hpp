// Checks the size of a buffer that a caller passes.
//
// Contract: Usage unless the buffer has at least `bytes` bytes; `what` and `where` as in the message.
#pragma once

#include <fmt/format.h>

#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

inline void require_bytes(const Buffer& buffer, std::uint64_t bytes, const char* what, const char* where) {
  if (buffer.bytes() < bytes) {
    throw Error(ErrorKind::Usage, {fmt::format("a buffer of {} is too small", what), where,
                                   fmt::format("{} bytes", buffer.bytes()), fmt::format("{} bytes", bytes), ""});
  }
}

}  // namespace rayreplay::kernels
