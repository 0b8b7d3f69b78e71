// SIMT efficiency by instruction of groups of lanes, from the paths of their calls.
//
// A group is the lanes that execute one call together: a warp event of a replay, or a co-execution group of a capture.
// Its lanes are taken to execute each block together: the group executes block b as often as the lane with most
// executions of it. So lanes are assumed to meet again at every block, also of different rounds of a loop: counts of
// executions are known, not their sequence. This is the least that a warp can execute; what it does execute may be
// more, so the efficiency is an upper bound. A thread's trace calls share the path of its ray generation equally
// (event_paths.hpp); for them, that is a further assumption.
//
//   efficiency = Σ_groups Σ_b n(b) · Σ_lanes c(b) ÷ (warp size · Σ_groups Σ_b n(b) · max_lanes c(b))
//
// n(b): instructions of block b (instructions, not issue slots). c(b): a lane's executions of it.
//
// Trace calls of other shaders execute nothing of their own: their shader's instructions are those of its entry. They
// are no groups.
//
// Contract: groups in which a lane has no path are left out of both sums; `known` is the share of the lanes that is
// left in. The instructions of each lane and of each group are rounded to whole multiples of 1/kInstructionScale, which
// only shared paths need, so sums are exact in any order: they do not depend on the number of workers. Resource if the
// launch's events executed more than kMostInstructions. O(events + groups · lanes · blocks), O(lanes) for a group whose
// lanes have one path.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/profile/event_paths.hpp"

namespace rayreplay::profile {

inline constexpr double kInstructionScale = 16;
inline constexpr double kMostInstructions = 0x1p55;

struct PathTally {
  std::uint64_t lanes = 0;               ///< of all groups
  std::uint64_t known_lanes = 0;         ///< of the groups whose lanes all have a path
  std::uint64_t groups = 0;              ///< these groups
  std::uint64_t lane_instructions = 0;   ///< Σ n · Σ_lanes c, times kInstructionScale
  std::uint64_t group_instructions = 0;  ///< Σ n · max_lanes c, times kInstructionScale

  /// Empty if nothing known was executed.
  [[nodiscard]] std::optional<double> efficiency(std::uint32_t warp_size) const {
    return group_instructions != 0 && warp_size != 0
               ? std::optional(static_cast<double>(lane_instructions) /
                               (static_cast<double>(warp_size) * static_cast<double>(group_instructions)))
               : std::nullopt;
  }
  /// Share of the lanes whose groups count; empty without lanes.
  [[nodiscard]] std::optional<double> known() const {
    return lanes != 0 ? std::optional(static_cast<double>(known_lanes) / static_cast<double>(lanes)) : std::nullopt;
  }
  void operator+=(const PathTally& other) {
    lanes += other.lanes;
    known_lanes += other.known_lanes;
    groups += other.groups;
    lane_instructions += other.lane_instructions;
    group_instructions += other.group_instructions;
  }
  bool operator==(const PathTally&) const = default;
};

struct PathTallies {
  std::vector<PathTally> by_call;  ///< index: shader · trace::kEventKinds + kind; empty: no paths

  [[nodiscard]] bool empty() const {
    return by_call.empty();
  }
  [[nodiscard]] PathTally all() const;
  [[nodiscard]] PathTally of_kind(trace::EventKind kind) const;
  [[nodiscard]] PathTally of_shader(std::size_t shader) const;
  void operator+=(const PathTallies& other);
  bool operator==(const PathTallies&) const = default;
};

/// Adds groups of one launch to tallies. `paths` must outlive it; the launch and the shaders need not.
class PathTallier {
 public:
  PathTallier(const EventPaths& paths, const std::vector<trace::Shader>& shaders, const trace::Launch& launch);

  /// Whether lanes that make this call together (shader · trace::kEventKinds + kind) are a group.
  [[nodiscard]] bool has_groups(std::size_t call) const {
    return has_groups_[call];
  }
  /// Adds a group. `ways`: those of its lanes, 0 for unknown ones, in any order; sorts them. Lanes of several shaders
  /// count as unknown.
  void add(std::vector<std::uint32_t>& ways, PathTally& tally) const;

 private:
  const EventPaths* paths_;
  std::vector<bool> has_groups_;             ///< by call
  std::vector<std::uint64_t> instructions_;  ///< by way − 1, times kInstructionScale
};

/// The launch's captured groups of events. Empty without groups.
[[nodiscard]] PathTallies tally_groups(const EventPaths& paths, const std::vector<trace::Shader>& shaders,
                                       const trace::Launch& launch);

}  // namespace rayreplay::profile
