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

/// The cost as a weight of the replayer: whole multiples of 1/kCostScale.
[[nodiscard]] std::uint32_t scaled_cost(double cost);

/// Tables for the replayer, in the order of the constants above. Calls that cost by path (CallCost::by_path) are
/// left out; path_weigher.hpp adds them.
[[nodiscard]] std::vector<simt::CallWeights> job_weights(const Costs& costs);

/// A warp's rays, before the cost of a visit: visits where they are counted ray by ray, else rays.
struct RaySums {
  std::uint64_t all = 0;      ///< of all lanes
  std::uint64_t longest = 0;  ///< of the longest k-th rays, summed over k
};

/// Factors that turn RaySums into needs.
struct StepCosts {
  double steps_per_ray = 1;  ///< 1 where visits are counted
  double step_cycles = 0;
  double software_slots = 0;  ///< issue slots of a visit of one lane; 0: hardware unit

  StepCosts(const Machine& machine, double steps);
};

/// `lanes`: of the warp, also those without a segment. `issue`, `latency`: sums of scaled costs.
[[nodiscard]] Job make_job(const RaySums& rays, std::size_t lanes, std::uint64_t issue, std::uint64_t latency,
                           const StepCosts& steps);

/// Memory: 8 bytes a segment. `costs` must outlive this object.
class JobMaker {
 public:
  JobMaker(const trace::Launch& launch, const scheduler::Segments& segments, const Machine& machine,
           const Costs& costs);
  /// `weights`: the replayer's sums for the warp.
  [[nodiscard]] Job make(std::span<const std::uint32_t> segment_at, std::span<const std::uint64_t> weights) const;
  [[nodiscard]] RaySums rays(std::span<const std::uint32_t> segment_at) const;

 private:
  const Costs* costs_;
  StepCosts steps_;
  trace::Column<std::uint64_t> first_ray_;  ///< by segment, one more at the end: row of its first ray
};

}  // namespace rayreplay::machine
