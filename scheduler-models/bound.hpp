// The fewest warp events that any assignment of threads to warps can need (MODELS.md §6, last sentence).
//
// Contract: Σ over shader calls (kind, shader) of ceil(calls / warp_size). O(events), parallel; exact. With
// `accelerated` (of the same launch) its device counts the calls.
#pragma once

#include <cstdint>
#include <vector>

#include "base/twin.hpp"
#include "capture/trace/accelerated_launch.hpp"

namespace rayreplay::scheduler {

struct Bound {
  std::uint64_t warp_events = 0;  ///< no assignment needs fewer
  std::uint64_t calls = 0;        ///< thread-level warp-event calls: Σ popcount of any schedule
  /// calls / (warp_size · warp_events), the upper bound of SIMT efficiency; 0 for a launch without calls.
  double efficiency = 0;
};

/// Number of each call (kind, shader) in a launch.
struct CallCounts {
  std::uint32_t shaders = 0;         ///< the greatest shader id of an event, plus 1
  std::vector<std::uint64_t> count;  ///< [kind · shaders + shader]
};

[[nodiscard]] Bound lower_bound(const trace::Launch& launch, std::uint32_t warp_size,
                                trace::AcceleratedLaunch* accelerated = nullptr);

inline constinit Twin<CallCounts(trace::AcceleratedLaunch*)> call_counts_twin{"bound"};

}  // namespace rayreplay::scheduler
