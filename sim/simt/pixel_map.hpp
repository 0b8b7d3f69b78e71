// Maps over a launch's pixels: one number per (x, y), slices of depth summed.
//
// Contract: width · height values in row-major order; NaN without counts (efficiency: no warp events). Counts are exact
// up to 2^24, the limit of consecutive whole numbers in a float. O(events), parallel over rows. A device computes the
// same sums (kernels/reduction).
#pragma once

#include <cstdint>
#include <vector>

#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::kernels {
class Accelerator;
class LaunchOnDevice;
}  // namespace rayreplay::kernels

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

/// `device`: holds the launch; null: the processor counts.
[[nodiscard]] PixelCounts count_pixels(const trace::Launch& launch, kernels::LaunchOnDevice* device = nullptr);

/// SIMT efficiency in percent, over the warp events of the pixel's threads. `by_thread`: one per thread. `accelerator`:
/// sums the slices; null: the processor does.
[[nodiscard]] PixelMap efficiency_map(trace::LaunchSize size, const std::vector<simt::Tally>& by_thread,
                                      std::uint32_t warp_size, kernels::Accelerator* accelerator = nullptr);

/// The launch-order rank of the warp that runs the pixel (slice z = 0 only).
[[nodiscard]] PixelMap order_map(trace::LaunchSize size, const scheduler::WarpAssignment& assignment);

}  // namespace rayreplay::experiment
