// Which bits of reorder keys matter for sorting, and keys of fewer bits where those are too many.
//
// Contract: `varying_bits` names the bits in which keys of segments that are not their thread's first differ; the host
// waits for it. `number_keys` gives every segment the number of its key among all keys, ascending: at most 32 bits, for
// one radix sort of all segments and 28 bytes a segment while it works. Errors: DeviceError.
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
