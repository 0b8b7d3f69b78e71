// The ways of the lanes of each warp event of a warp (capture/profile/event_paths.hpp).
//
// Contract: `each` replays one warp and calls `take(call, ways)` for every warp event in order: the call's index,
// shader · trace::kEventKinds + kind, and `way(row)` of each lane's event, in the order of lanes. `take` may change
// `ways`. Pieces are runs of event rows, `event_offset` bounds them: threads of a launch, or segments. Not thread-safe.
// O(events of the warp). Launch and `event_offset` must outlive this object.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "sim/simt/warp_recorder.hpp"

namespace rayreplay::machine {

class WarpPaths {
 public:
  WarpPaths(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
            std::span<const std::uint64_t> event_offset, std::uint32_t warp_size, simt::Policy policy)
      : events_(&launch.data.events),
        event_offset_(event_offset),
        recorder_(launch, shaders, event_offset, warp_size, policy),
        next_(warp_size) {}

  /// `piece_at`: warp_size entries, kNoSegment: empty.
  template <class Way, class Take>
  void each(std::span<const std::uint32_t> piece_at, const Way& way, const Take& take) {
    const std::span<const simt::WarpEvent> events = recorder_.record(piece_at);
    for (std::size_t lane = 0; lane < piece_at.size(); ++lane) {
      if (piece_at[lane] != scheduler::kNoSegment) {
        next_[lane] = event_offset_[piece_at[lane]];
      }
    }
    for (const simt::WarpEvent& event : events) {
      ways_.clear();
      for (std::uint64_t left = event.mask; left != 0; left &= left - 1) {
        std::uint64_t& row = next_[static_cast<std::size_t>(std::countr_zero(left))];
        while (!trace::is_warp_event(events_->kind[row])) {
          ++row;
        }
        ways_.push_back(way(row++));
      }
      take(std::size_t{event.shader} * trace::kEventKinds + static_cast<std::size_t>(event.kind), ways_);
    }
  }

 private:
  const trace::Events* events_;
  std::span<const std::uint64_t> event_offset_;
  simt::WarpRecorder recorder_;
  std::vector<std::uint64_t> next_;  ///< by lane: row of its next event
  std::vector<std::uint32_t> ways_;
};

}  // namespace rayreplay::machine
