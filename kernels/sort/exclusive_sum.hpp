// Prefix sums in device memory.
//
// Contract: entry i of `to` becomes the sum of items 0…i−1 of `from` (32-bit), for i = 0…count: count + 1 entries, the
// last of which is the total. `to` holds 32-bit numbers (sums modulo 2^32) or 64-bit ones (exact); it may not be
// `from`. At most 2^40 items. Three launches: sums of up to 2048 blocks, their prefix sums, and the items'; moves two
// reads and one write per item. Errors: DeviceError.
//
// A Summer owns its scratch memory (16 KiB): wait for the stream before destroying it.
#pragma once

#include <cstdint>

#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

enum class SumBits : std::uint8_t { Of32, Of64 };

class Summer {
 public:
  explicit Summer(Device& device) : device_(&device) {}
  void exclusive_sum(Stream& stream, const Buffer& from, const Buffer& to, std::uint64_t count, SumBits bits);

 private:
  Device* device_;
  Buffer sums_;
};

/// With its own scratch memory; waits for the stream.
void exclusive_sum(Device& device, Stream& stream, const Buffer& from, const Buffer& to, std::uint64_t count,
                   SumBits bits = SumBits::Of32);

}  // namespace rayreplay::kernels
