// Maps over a launch's pixels: one number per (x, y), slices of depth summed.
//
// Contract: values are row-major, width · height of them; NaN where nothing was counted (no warp events for
// efficiency). Counts are exact up to 2^24, the largest whole number that a float holds with all its predecessors.
// O(events), parallel over rows. A device computes the same values.
#pragma once

#include <cstdint>
#include <vector>

#include "base/twin.hpp"
#include "capture/trace/accelerated_launch.hpp"
#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::experiment {

struct PixelMap {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<float> values;
};

struct PixelCounts {
  PixelMap rays;           ///< Begin and OcclusionBegin
  PixelMap intersections;  ///< intersection shader calls
  PixelMap any_hits;       ///< any-hit shader calls
};

/// `accelerated`: of the launch; null: the processor counts.
[[nodiscard]] PixelCounts count_pixels(const trace::Launch& launch, trace::AcceleratedLaunch* accelerated = nullptr);

/// SIMT efficiency in percent, over the warp events of the pixel's threads. `by_thread`: one per thread. `accelerator`:
/// sums the slices; null: the processor does.
[[nodiscard]] PixelMap efficiency_map(trace::LaunchSize size, const std::vector<simt::Tally>& by_thread,
                                      std::uint32_t warp_size, Accelerator* accelerator = nullptr);

inline constinit Twin<PixelCounts(trace::AcceleratedLaunch*)> count_pixels_twin{"events per pixel"};
/// Sums over the slices of a launch, by pixel.
inline constinit Twin<std::vector<simt::Tally>(trace::LaunchSize, const std::vector<simt::Tally>& by_thread)>
    add_slices_twin{"efficiency per pixel"};

/// The launch-order rank of the warp that runs the pixel (slice z = 0 only).
[[nodiscard]] PixelMap order_map(trace::LaunchSize size, const scheduler::WarpAssignment& assignment);

}  // namespace rayreplay::experiment
