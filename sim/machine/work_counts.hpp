// A schedule's warp events by class of calls: what is left of a replay when costs and machine change.
//
// Contract: calls of a class have equal costs at all times, and all or none of them have costs by path (Costs::paths).
// `workload` gives, for any costs, what make_workload (timing.hpp) gives for them, bit by bit, in O(warps · (classes +
// calls with costs by path)) and without another replay. Counting takes a replay for each kClassesAtOnce classes, and
// one more for costs by path. Memory: 4 bytes a warp and class, 8 a warp and call with costs by path, 20 a warp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/machine/job_maker.hpp"

namespace rayreplay::machine {

inline constexpr std::uint32_t kNoClass = 0xFFFF'FFFFU;
inline constexpr std::size_t kClassesAtOnce = 2 * simt::kMaxWeights;

struct CallClasses {
  std::vector<std::uint32_t> of_call;  ///< by call, as Costs::calls; kNoClass: the launch does not make the call
  std::vector<std::size_t> calls;      ///< by class: one of its calls
};

class WorkCounts {
 public:
  WorkCounts() = default;
  WorkCounts(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
             const scheduler::Segments& segments, const scheduler::SegmentSchedule& schedule,
             const CallClasses& classes, const Costs& costs, simt::Policy policy);

  /// `calls` as Costs::calls. `steps_per_ray` has no effect if the counted costs had steps of each ray.
  [[nodiscard]] Workload workload(const std::vector<CallCost>& calls, double steps_per_ray,
                                  const Machine& machine) const;

 private:
  CallClasses classes_;
  std::size_t warp_size_ = 0;
  bool counted_steps_ = false;
  std::vector<std::uint32_t> events_;  ///< warp · classes + class
  std::shared_ptr<const PathCosts> paths_;
  std::vector<std::uint64_t> path_sums_;  ///< warp · calls with costs by path + place
  std::vector<RaySums> rays_;
  std::vector<std::uint32_t> lanes_;
};

}  // namespace rayreplay::machine
