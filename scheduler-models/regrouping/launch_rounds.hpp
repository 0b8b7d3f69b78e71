// Rounds of a whole launch whose keys have few values: the fast path of schedule_rounds (regroup.hpp).
//
// Contract: `rank_keys` numbers the values of the keys in ascending order, one byte a segment; empty for more than
// Ranks::kMax values. `schedule_launch` is schedule_rounds for scope launch, parallel inside each round: blocks of
// warps sort their threads by rank in the nearest cache, and new warps take their threads from the blocks' runs. A
// thread is written and read once a round. Only the choice of continued warps is sequential, some nanoseconds a warp.
// O(segments); memory 1 byte a segment and 8 bytes a thread beside the schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "scheduler-models/regrouping/regroup.hpp"

namespace rayreplay::scheduler {

struct Ranks {
  static constexpr std::uint32_t kMax = 255;
  static constexpr std::uint8_t kFirst = 255;  ///< the segment is its thread's first one
  trace::Column<std::uint8_t> of;              ///< by segment, and kFirst behind the last
  std::uint32_t count = 0;
};

[[nodiscard]] std::optional<Ranks> rank_keys(const Segments& segments, const trace::Column<std::uint64_t>& keys);

/// `warps`: of the assignment, in the order in which they start.
[[nodiscard]] SegmentSchedule schedule_launch(const PlanContext& context, std::span<const std::uint32_t> warps,
                                              const Ranks& ranks, const Regrouping& regrouping);

}  // namespace rayreplay::scheduler
