// Converts a warp of segments to a job (timing.hpp).
//
// Contract: shading and issue are sums of costs over the warp's events, as whole multiples of 1/kCostScale (costs are
// rounded to it, half away from zero), so they are exact in any order. Traversal: the k-th rays that the lanes'
// segments begin run side by side; the longest of each k counts. With software traversal every lane takes the issue
// slots of the longest, and no unit is used.
#pragma once

#include <span>
#include <vector>

#include "sim/machine/timing.hpp"
#include "sim/simt/segment_replay.hpp"

namespace rayreplay::machine {

inline constexpr double kCostScale = 16;
inline constexpr std::size_t kIssueWeight = 0, kLatencyWeight = 1, kHitWeight = 2, kJobWeights = 3;

/// Tables for the replayer, in the order of the constants above.
[[nodiscard]] std::vector<simt::CallWeights> job_weights(const Costs& costs);

/// Memory: 8 bytes a segment. `costs` must outlive this object.
class JobMaker {
 public:
  JobMaker(const trace::Launch& launch, const scheduler::Segments& segments, const Machine& machine,
           const Costs& costs);
  /// `weights`: the replayer's sums for the warp.
  [[nodiscard]] Job make(std::span<const std::uint32_t> segment_at, std::span<const std::uint64_t> weights) const;

 private:
  const Costs* costs_;
  double step_cycles_;
  double software_slots_;                   ///< issue slots of a visit of one lane; 0: hardware unit
  trace::Column<std::uint64_t> first_ray_;  ///< by segment, one more at the end: row of its first ray
};

}  // namespace rayreplay::machine
