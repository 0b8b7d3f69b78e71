// The segments whose threads get their live state through memory.
//
// Contract: `static_state_moves` applies the rule of SegmentSchedule::moved once more to a whole schedule: of each
// warp, the threads that do not come from the earlier warp that it continues. `timed_state_moves` takes the moved lanes
// that the exchanges told (one mask a warp). Both by segment: 1 if the state of the segment's thread goes through
// memory before it: the thread stores it after its previous segment and loads it in this one. First segments have none.
// O(segments) time; 5 bytes a segment (timed: 1). Errors: Internal if the moved threads are not as many as the schedule
// says.
#pragma once

#include <cstdint>
#include <span>

#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "scheduler-models/regrouping/segment_schedule.hpp"

namespace rayreplay::scheduler {

using StateMoves = trace::Column<std::uint8_t>;

[[nodiscard]] StateMoves static_state_moves(const Segments& segments, const SegmentSchedule& schedule,
                                            StateTraffic traffic);
[[nodiscard]] StateMoves timed_state_moves(const Segments& segments, const SegmentSchedule& schedule,
                                           std::span<const std::uint64_t> moved_lanes, StateTraffic traffic);

}  // namespace rayreplay::scheduler
