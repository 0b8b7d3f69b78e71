// Reorder keys on the device: shader and hint (scheduler-models/regrouping/reorder_key.hpp says what they are).
//
// Contract: a 64-bit key for every segment, as `scheduler::reorder_keys` makes it of the same parts without a place. The
// hint is the launch's captured one, or a value for each segment that somebody has computed (formulas, files). Keys of a
// place are made on the processor: they take divisions and roots of 64-bit floats, which Vulkan does not promise to
// round correctly. O(segments), 8 bytes written each; an invocation takes one thread's. Needs what `cut_paths` needs.
// Errors: DeviceError.
#pragma once

#include <cstdint>

#include "kernels/launch_on_device.hpp"
#include "kernels/regrouping/segments.hpp"

namespace rayreplay::kernels {

struct KeySpec {
  std::uint32_t shader_bits = 17;
  std::uint32_t hint_bits = 0;      ///< taken of the hint
  std::uint32_t hint_width = 0;     ///< bits that the hint has
  const Buffer* given = nullptr;    ///< u32 by segment; null: captured
};

/// The launch's widest captured hint, in bits, at most 32. The host waits for it.
[[nodiscard]] std::uint32_t widest_hint(Device& device, Stream& stream, LaunchOnDevice& launch);

/// u64 by segment.
[[nodiscard]] Buffer make_keys(Device& device, Stream& stream, LaunchOnDevice& launch, const SegmentsOnDevice& segments,
                               const KeySpec& spec);

}  // namespace rayreplay::kernels
