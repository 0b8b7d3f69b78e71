// Needs of memory time from a launch: costs of its shader calls for access streams, and the delays of its warps'
// starts.
//
// Contract: `call_work` gives costs in the units of streams, rounded to nearest; kinds that are no warp events cost
// nothing. `lane_costs` gives the costs of calls by path (machine::PathCosts): lanes that call together issue what
// PathCosts::group says, times the call's present cost over its mean, at most kMaxIssue. Their latency grows with this
// issue as the call's mean latency does with its mean. Where the call's latency does not come from its instructions
// (own_latency), it is that latency, at least a cycle an instruction. The trace must outlive the result.
// O(lanes · blocks) a group of lanes.
//
// `start_delays` gives by item the cycles that a warp waits for the exchange that formed it (timing.hpp,
// "Charges"): cycles_per_cut, and cycles_per_warp too if its unit exchanges threads; the first round of a unit starts
// without delay, and so does a launched warp of a timed model. In a closed loop the last value holds for all formed
// warps. The live state's bytes are accesses of the stream, so they delay nothing here. O(calls), O(warps · lanes).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/launch/regrouped_launch.hpp"
#include "sim/machine/costs.hpp"
#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::experiment {

[[nodiscard]] std::vector<memory::CallWork> call_work(const machine::Costs& costs);

/// Null if no call has costs by path.
[[nodiscard]] std::shared_ptr<const memory::LaneCosts> lane_costs(const machine::Costs& costs);

/// Empty where no warp waits. `is_timed`: of a timed model.
[[nodiscard]] std::vector<std::uint32_t> start_delays(const scheduler::Segments& segments,
                                                      const scheduler::SegmentSchedule& schedule,
                                                      const scheduler::Charges& charges, bool is_timed);
/// The same; those of a schedule file come from the file.
[[nodiscard]] std::vector<std::uint32_t> start_delays(const RegroupedLaunch& regrouped);

}  // namespace rayreplay::experiment
