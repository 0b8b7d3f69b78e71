// SIMT efficiency by instruction of a launch's calls, from the paths of each of them.
//
// A group is the lanes that the device executes together in one call (a ray-generation warp, a co-execution group of
// events). Its lanes are taken to execute each block together: the group executes block b as often as the lane with
// most executions of it. So lanes are assumed to meet again at every block, also of different rounds of a loop. This is
// the least that a warp can execute; what it does execute may be more.
//
//   efficiency = Σ_groups Σ_b n(b) · Σ_lanes c(b) ÷ (warp size · Σ_groups Σ_b n(b) · max_lanes c(b))
//
// Contract: groups in which a recorded lane has no path are left out. Empty without paths, groups or a warp size. Does
// not depend on the number of workers. O(events + groups · blocks).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "capture/profile/path_profile.hpp"

namespace rayreplay::profile {

struct PathTally {
  std::uint64_t groups = 0;
  std::uint64_t lane_instructions = 0;   ///< Σ n · Σ_lanes c
  std::uint64_t group_instructions = 0;  ///< Σ n · max_lanes c

  [[nodiscard]] std::optional<double> efficiency(std::uint32_t warp_size) const {
    return group_instructions != 0 && warp_size != 0
               ? std::optional(static_cast<double>(lane_instructions) /
                               (static_cast<double>(warp_size) * static_cast<double>(group_instructions)))
               : std::nullopt;
  }
  void operator+=(const PathTally& other) {
    groups += other.groups;
    lane_instructions += other.lane_instructions;
    group_instructions += other.group_instructions;
  }
};

struct PathTallies {
  std::array<PathTally, trace::kRayTracingStages> by_stage{};
  [[nodiscard]] PathTally all() const {
    PathTally sum;
    for (const PathTally& stage : by_stage) {
      sum += stage;
    }
    return sum;
  }
};

/// `profile`: of the trace's paths.
[[nodiscard]] PathTallies tally_paths(const trace::Trace& trace, const PathProfile& profile,
                                      const trace::Launch& launch);

}  // namespace rayreplay::profile
