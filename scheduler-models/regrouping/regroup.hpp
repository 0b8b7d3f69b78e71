// Regrouping: waiting segments to warps, and whole launches to static schedules: what the models share.
//
// Contract, `form_warps`: takes the segments that wait in one unit with where their threads come from, in order of
// those places. They are sorted stably by key and cut into warps of `warp_size`; with `split_keys`, a warp never mixes
// keys (wavefront: a queue per shader). In its warp a thread keeps its lane if no thread before it in that order has
// taken it; the others fill what is free, ascending. `moved`: as in SegmentSchedule. O(n · key bytes).
//
// Contract, `schedule_rounds`: cuts the launch's warps into units by `scope` (warps without segments, of which a
// capture of a window has many, take no part and are not counted), then round by round forms warps of all
// threads of the unit that are not done. The first round is the launch order itself. Parallel over units, or inside a
// round where there are few; the same result whatever the number of workers. `schedule_by_key` is the same with keys
// made of the segments: those of `reorder_keys`, or all the same without parts. Where the context names a device, both
// run there, the latter without bringing keys to the processor; a launch of 2^32 − 2 events or more does not.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler-models/regrouping/exchange.hpp"
#include "scheduler-models/regrouping/reorder_key.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"

namespace rayreplay::scheduler {

enum class Scope : std::uint8_t {
  Warp,  ///< nobody is exchanged: threads stay in their warp and meet at the cut
  Pool,  ///< `pool_warps` warps that start one after another
  /// All warps of an SM: that of the capture (of the warp's first thread with segments) if it is known of all warps
  /// and below the number of shading SMs; else place in the order of start modulo that number. The schedule says which.
  Sm,
  Launch,
};

struct Regrouping {
  Scope scope = Scope::Launch;
  std::uint32_t pool_warps = 1;
  bool split_keys = false;
  bool keep_lanes = true;  ///< false: threads fill lanes in sorted order
  /// Rounds whose threads all stay are not regrouped at all: those below it (compaction of dead threads alone).
  bool only_if_fewer = false;  ///< a round is regrouped only if that needs fewer warps than going on as before
};

/// `keys`: by segment of the launch.
void form_warps(std::span<const Arrival> waiting, const trace::Column<std::uint64_t>& keys, std::uint32_t warp_size,
                const Regrouping& regrouping, std::vector<FormedWarp>& out);

[[nodiscard]] SegmentSchedule schedule_rounds(const PlanContext& context, const trace::Column<std::uint64_t>& keys,
                                              const Regrouping& regrouping);

[[nodiscard]] SegmentSchedule schedule_by_key(const PlanContext& context, const std::optional<KeyParts>& parts,
                                              const Regrouping& regrouping);

/// Both of them: keys are given, or made of `parts`; without either they are all the same.
inline constinit Twin<SegmentSchedule(const PlanContext&, const trace::Column<std::uint64_t>* keys,
                                      const std::optional<KeyParts>& parts, const Regrouping&)>
    regroup_twin{"regroup"};

}  // namespace rayreplay::scheduler
