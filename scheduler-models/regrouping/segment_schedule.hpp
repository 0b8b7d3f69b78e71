// A regrouped launch: the warps of segments and their order (MODELS.md §7).
//
// Contract: warps of segments are listed by unit, then by round. A *unit* is a set of threads that exchange lanes only
// among themselves (one warp, a pool of warps, all threads of an SM, or the launch); units are independent. A *round*
// is the part between two exchanges: all warps of a round finish before the unit's next round starts. Every segment has
// exactly one place; a thread's segments lie in ascending rounds of one unit. A place is warp · warp_size + lane;
// places without a segment hold kNoSegment. No warp is empty. `moved` counts a warp's threads that came from another
// warp: a new warp continues the earlier warp of its unit that gives it most threads (ties: the lowest; an earlier warp
// is continued by one new warp at most, the first to claim it); the live state of the others moves. 0 in the first
// round. Memory: 4 bytes a place, 4 a warp, 8 a round, 12 a unit. A schedule made on a device also stays in its memory
// for the replay while a copy exists (`on_device`).
#pragma once

#include <cstdint>
#include <vector>

#include "capture/trace/column.hpp"
#include "scheduler-models/regrouping/segments.hpp"

namespace rayreplay::scheduler {

inline constexpr std::uint32_t kAnySm = 0xFFFF'FFFFU;

/// The source of the units' SMs.
enum class SmSource : std::uint8_t {
  None,       ///< the machine chooses: kAnySm
  Captured,   ///< units are the warps that the capture saw on an SM
  StartRank,  ///< dealt out in the order in which warps start
};

struct SegmentSchedule {
  std::uint32_t warp_size = 32;
  trace::Column<std::uint32_t> segment_at;   ///< by place
  trace::Column<std::uint32_t> moved;        ///< by warp
  trace::Column<std::uint64_t> round_begin;  ///< rounds + 1: first warp of the round
  trace::Column<std::uint64_t> unit_begin;   ///< units + 1: first round of the unit
  /// By unit: its SM; kAnySm: the machine chooses, once per unit, or for each warp if `spread`.
  trace::Column<std::uint32_t> unit_sm;
  bool spread = false;
  SmSource sm_source = SmSource::None;
  /// Device copy of `segment_at` and `moved`, or null. Code that changes a column must reset it.
  DeviceCopy on_device{};

  [[nodiscard]] std::size_t warps() const {
    return moved.size();
  }
  [[nodiscard]] std::size_t rounds() const {
    return round_begin.empty() ? 0 : round_begin.size() - 1;
  }
  [[nodiscard]] std::size_t units() const {
    return unit_begin.empty() ? 0 : unit_begin.size() - 1;
  }
};

/// Internal if the schedule breaks the contract. O(segments) time and memory: for tests and new models.
void check(const SegmentSchedule& schedule, const Segments& segments);

}  // namespace rayreplay::scheduler
