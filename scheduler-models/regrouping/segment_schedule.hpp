// A regrouped launch: which segments run together in which warps, and what waits for what (MODELS.md §7).
//
// Contract: warps of segments are listed unit by unit, in a unit round by round. A *unit* is a set of threads that
// exchange lanes among themselves alone (one warp, a pool of warps, all threads of an SM, or the launch); units are
// independent. A *round* is what its unit runs between two exchanges: all warps of a round finish before the next round
// of the unit starts. Every segment stands at exactly one place; a thread's segments stand in ascending rounds of one
// unit. A place is warp · warp_size + lane; places without a segment hold kNoSegment. No warp is empty. `moved` says
// how many of a warp's threads came from another warp: the new warp takes the place of the earlier warp of its unit
// that gives it most threads (ties to the lowest; each earlier warp is continued by one new warp at most, the first to
// claim it); the others' live state moves. 0 in the first round. Memory: 4 bytes a place, 4 a warp, 8 a round, 12 a
// unit. A schedule that a device made stays in its memory too as long as a copy of it lives (`on_device`), for the
// replay.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/trace/column.hpp"
#include "scheduler-models/regrouping/segments.hpp"

namespace rayreplay::scheduler {

inline constexpr std::uint32_t kAnySm = 0xFFFF'FFFFU;

/// Where the SMs of units come from.
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
  /// By unit: the SM on which it must run; kAnySm: the machine chooses. If `spread`, the choice is made for each warp
  /// anew, else once for the unit, which stays there.
  trace::Column<std::uint32_t> unit_sm;
  bool spread = false;
  SmSource sm_source = SmSource::None;
  /// `segment_at` and `moved` in a device's memory; or null. Code that changes a column must reset it.
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

/// Throws Internal unless the schedule keeps the contract. O(segments) time and memory: for tests and new models.
void check(const SegmentSchedule& schedule, const Segments& segments);

}  // namespace rayreplay::scheduler
