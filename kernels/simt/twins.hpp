// Replays on devices: the twins of simt::replay and simt::replay_segments.
//
// Contract: the same result as on the processor, bit for bit. Inputs are checked (job.hpp). Several devices take equal
// runs of consecutive warps, each in its own thread, and their sums are added; each holds the whole launch. `on_device`
// of the options must be of `launch`, else Internal. O(events) a device the first time, then O(places + warp events ·
// distinct heads). Errors: those of the replayer, and DeviceError.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/device/device.hpp"
#include "sim/simt/replayer.hpp"
#include "sim/simt/segment_replay.hpp"

namespace rayreplay::simt {

struct OnDeviceLimits {
  std::uint64_t most_places = std::uint64_t{1} << 22;  ///< limit of one kernel launch
  std::uint32_t subgroup = 0;                          ///< a size that the device has; 0: the best for the warps
};

using Devices = std::span<kernels::Device* const>;

[[nodiscard]] ReplayResult replay_on(Devices devices, const trace::Launch& launch,
                                     const std::vector<trace::Shader>& shaders,
                                     const scheduler::WarpAssignment& assignment, const ReplayOptions& options,
                                     const OnDeviceLimits& limits = {});

[[nodiscard]] SegmentReplayResult replay_segments_on(Devices devices, const trace::Launch& launch,
                                                     const std::vector<trace::Shader>& shaders,
                                                     const scheduler::Segments& segments,
                                                     std::span<const std::uint32_t> segment_at, std::uint32_t warp_size,
                                                     const SegmentReplayOptions& options,
                                                     const OnDeviceLimits& limits = {});

}  // namespace rayreplay::simt
