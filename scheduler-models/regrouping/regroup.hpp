// Regrouping: from waiting segments to warps, and static schedules of whole launches.
//
// Contract, `form_warps`: takes the waiting segments of one unit in order of the places their threads come from. They
// are sorted stably by key and cut into warps of `warp_size`; with `split_keys` a warp never mixes keys (wavefront: a
// queue per shader). A thread keeps its lane unless an earlier thread of the warp has taken it; the others fill free
// lanes in ascending order. `moved`: as in SegmentSchedule. O(n · key bytes).
//
// Contract, `schedule_rounds`: cuts the launch's warps into units by `scope`, then forms the warps of each round from
// all unfinished threads of a unit. Warps without segments (frequent in captures of a window) are omitted. The first
// round is the launch order. Parallel over units, or inside a round where units are few; the same for any number of
// workers. `schedule_by_key` does the same with keys made from the segments: `reorder_keys`, or equal keys without
// parts. Both run on the context's device where it names one, without copying keys to the CPU; launches of 2^32 − 2
// events or more run on the CPU.
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
  Warp,  ///< no exchange: threads stay in their warp and reconverge at the cut
  Pool,  ///< `pool_warps` warps that start one after another
  /// All warps of an SM: the captured one (of the warp's first thread with segments) if known for all warps, below the
  /// number of shading SMs, and not one for all; else the rank of start modulo that number. The schedule names the
  /// source.
  Sm,
  Launch,
};

struct Regrouping {
  Scope scope = Scope::Launch;
  std::uint32_t pool_warps = 1;
  bool split_keys = false;
  bool keep_lanes = true;  ///< false: threads fill lanes in sorted order
  /// A round is regrouped only if that needs fewer warps (compaction of finished threads).
  bool only_if_fewer = false;
};

/// `keys`: by segment of the launch.
void form_warps(std::span<const Arrival> waiting, const trace::Column<std::uint64_t>& keys, std::uint32_t warp_size,
                const Regrouping& regrouping, std::vector<FormedWarp>& out);

[[nodiscard]] SegmentSchedule schedule_rounds(const PlanContext& context, const trace::Column<std::uint64_t>& keys,
                                              const Regrouping& regrouping);

[[nodiscard]] SegmentSchedule schedule_by_key(const PlanContext& context, const std::optional<KeyParts>& parts,
                                              const Regrouping& regrouping);

/// Twin of both: keys are given, or made of `parts`; without either they are equal.
inline constinit Twin<SegmentSchedule(const PlanContext&, const trace::Column<std::uint64_t>* keys,
                                      const std::optional<KeyParts>& parts, const Regrouping&)>
    regroup_twin{"regroup"};

}  // namespace rayreplay::scheduler
