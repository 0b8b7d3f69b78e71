// The relevant bits of reorder keys, and shorter keys where these are too many.
//
// Contract: `varying_bits` gives the bits in which keys of segments that are not their thread's first differ; it waits.
// `number_keys` gives every segment the rank of its key among all keys: at most 32 bits, by one radix sort of all
// segments and 28 bytes a segment of scratch. Errors: DeviceError.
#pragma once

#include <cstdint>

#include "kernels/device/device.hpp"

namespace rayreplay::kernels::regrouping {

/// `starts`: a bit for each segment that is its thread's first.
[[nodiscard]] std::uint64_t varying_bits(Device& device, Stream& stream, const Buffer& keys, std::uint64_t count,
                                         const Buffer& starts);

/// u64 by segment. At least one.
[[nodiscard]] Buffer number_keys(Device& device, Stream& stream, const Buffer& keys, std::uint64_t count);

}  // namespace rayreplay::kernels::regrouping
