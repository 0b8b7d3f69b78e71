// The position of a unit in a static schedule, for everything that starts a schedule's warps: the round that it runs.
//
// Contract: the fields are those of the schedule that `enter` was last given; before that they say nothing. `enter` is
// O(empty rounds that it passes).
#pragma once

#include <cstdint>

#include "scheduler-models/regrouping/segment_schedule.hpp"

namespace rayreplay::machine {

struct ScheduleRound {
  std::uint64_t round = 0;       ///< the current one
  std::uint64_t next_warp = 0;   ///< of the round, to start next
  std::uint64_t unfinished = 0;  ///< warps of the round that have not ended

  /// Advances to the first round with warps of the unit, from `from` on; false, with nothing changed, if there is none.
  bool enter(const scheduler::SegmentSchedule& schedule, std::uint32_t unit, std::uint64_t from) {
    const std::uint64_t end = schedule.unit_begin[unit + 1];
    while (from < end && schedule.round_begin[from] == schedule.round_begin[from + 1]) {
      ++from;
    }
    if (from == end) {
      return false;
    }
    round = from;
    next_warp = schedule.round_begin[from];
    unfinished = schedule.round_begin[from + 1] - next_warp;
    return true;
  }
  /// Whether all warps of the round have started.
  [[nodiscard]] bool is_out(const scheduler::SegmentSchedule& schedule) const {
    return next_warp == schedule.round_begin[round + 1];
  }
};

}  // namespace rayreplay::machine
