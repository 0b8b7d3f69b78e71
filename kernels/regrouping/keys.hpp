// Reorder keys on the device: shader and hint (scheduler-models/regrouping/reorder_key.hpp).
//
// Contract: a 64-bit key for every segment, equal to `scheduler::reorder_keys` of the same parts without a place. The
// hint is the launch's captured one, or a given value per segment (formulas, files). Room is left for a place
// (places.hpp). O(segments), 8 bytes written each; one invocation per thread of the launch. Limits are those of
// `cut_paths`. Errors: DeviceError.
#pragma once

#include <cstdint>

#include "kernels/launch_on_device.hpp"
#include "kernels/regrouping/segments.hpp"

namespace rayreplay::kernels {

struct KeySpec {
  std::uint32_t shader_bits = 17;
  std::uint32_t hint_bits = 0;    ///< taken of the hint
  std::uint32_t hint_width = 0;   ///< bits that the hint has
  std::uint32_t place_bits = 0;   ///< left 0, below the hint
  const Buffer* given = nullptr;  ///< u32 by segment; null: captured
};

/// The launch's widest captured hint, in bits, at most 32. The host waits for it.
[[nodiscard]] std::uint32_t widest_hint(Device& device, Stream& stream, LaunchOnDevice& launch);

/// u64 by segment.
[[nodiscard]] Buffer make_keys(Device& device, Stream& stream, LaunchOnDevice& launch, const SegmentsOnDevice& segments,
                               const KeySpec& spec);

}  // namespace rayreplay::kernels
