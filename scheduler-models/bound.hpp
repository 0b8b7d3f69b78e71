// The fewest warp events that any assignment of threads to warps can need (MODELS.md §6, last sentence).
//
// Contract: Σ over shader calls (kind, shader) of ceil(calls / warp_size). O(events), parallel; exact. `lower_bound_on`
// counts the calls on the launch's device, stage "bound" (kernels/accelerator.hpp); a null device: on the processor.
#pragma once

#include <cstdint>

#include "capture/trace/trace.hpp"

namespace rayreplay::kernels {
class LaunchOnDevice;
}

namespace rayreplay::scheduler {

struct Bound {
  std::uint64_t warp_events = 0;  ///< no assignment needs fewer
  std::uint64_t calls = 0;        ///< thread-level warp-event calls: Σ popcount of any schedule
  /// calls / (warp_size · warp_events): no assignment is more efficient; 0 for a launch without calls.
  double efficiency = 0;
};

[[nodiscard]] Bound lower_bound(const trace::Launch& launch, std::uint32_t warp_size);
[[nodiscard]] Bound lower_bound_on(const trace::Launch& launch, std::uint32_t warp_size,
                                   kernels::LaunchOnDevice* device);

}  // namespace rayreplay::scheduler
