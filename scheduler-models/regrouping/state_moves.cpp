#include "scheduler-models/regrouping/state_moves.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "scheduler-models/regrouping/warp_former.hpp"

namespace rayreplay::scheduler {
namespace {

[[noreturn]] void miscounted(std::size_t warp, std::uint32_t found, std::uint32_t expected) {
  throw Error(ErrorKind::Internal,
              {"the threads that moved are not as many as the schedule says", fmt::format("warp {}", warp),
               std::to_string(found), std::to_string(expected), "report this: the scheduler model is at fault"});
}

/// All segments, or all but the first of each thread.
StateMoves moves_of(const Segments& segments, StateTraffic traffic) {
  StateMoves moves(segments.size());
  std::fill(moves.begin(), moves.end(), traffic == StateTraffic::All ? std::uint8_t{1} : std::uint8_t{0});
  for (std::size_t thread = 0; traffic == StateTraffic::All && thread + 1 < segments.first.size(); ++thread) {
    if (segments.first[thread] < segments.first[thread + 1]) {
      moves[segments.first[thread]] = 0;
    }
  }
  return moves;
}

}  // namespace

StateMoves static_state_moves(const Segments& segments, const SegmentSchedule& schedule, StateTraffic traffic) {
  StateMoves moves = moves_of(segments, traffic);
  if (traffic != StateTraffic::Moved) {
    return moves;
  }
  trace::Column<std::uint32_t> warp_of(segments.size());
  std::vector<Waiting> threads;
  Claims claims;
  for (std::size_t unit = 0; unit < schedule.units(); ++unit) {
    for (std::uint64_t round = schedule.unit_begin[unit]; round < schedule.unit_begin[unit + 1]; ++round) {
      const bool is_first = round == schedule.unit_begin[unit];
      const std::uint64_t before = is_first ? 0 : schedule.round_begin[round - 1];
      claims.start(is_first ? 0 : schedule.round_begin[round] - before);
      for (std::uint64_t warp = schedule.round_begin[round]; warp < schedule.round_begin[round + 1]; ++warp) {
        threads.clear();
        for (std::uint32_t lane = 0; lane < schedule.warp_size; ++lane) {
          const std::uint32_t segment = schedule.segment_at[warp * schedule.warp_size + lane];
          if (segment == kNoSegment) {
            continue;
          }
          warp_of[segment] = static_cast<std::uint32_t>(warp);
          if (!is_first) {
            threads.push_back(Waiting::at(segment, warp_of[segment - 1] - static_cast<std::uint32_t>(before), lane));
          }
        }
        const std::uint32_t moved =
            is_first ? 0 : claims.moved(static_cast<std::uint32_t>(threads.size()), find_givers(threads), [&] {
              return std::span<const Waiting>(threads);
            });
        if (moved != schedule.moved[warp]) {
          miscounted(warp, moved, schedule.moved[warp]);
        }
        for (const Waiting& thread : threads) {
          moves[thread.segment] = thread.warp() != claims.continued() ? 1 : 0;
        }
      }
    }
  }
  return moves;
}

StateMoves timed_state_moves(const Segments& segments, const SegmentSchedule& schedule,
                             std::span<const std::uint64_t> moved_lanes, StateTraffic traffic) {
  StateMoves moves = moves_of(segments, traffic);
  for (std::size_t warp = 0; traffic == StateTraffic::Moved && warp < schedule.warps(); ++warp) {
    std::uint32_t moved = 0;
    for (std::uint32_t lane = 0; lane < schedule.warp_size; ++lane) {
      if ((moved_lanes[warp] >> lane & 1U) != 0) {
        moves[schedule.segment_at[warp * schedule.warp_size + lane]] = 1;
        ++moved;
      }
    }
    if (moved != schedule.moved[warp]) {
      miscounted(warp, moved, schedule.moved[warp]);
    }
  }
  return moves;
}

}  // namespace rayreplay::scheduler
