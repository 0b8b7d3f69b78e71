// The warp events of single warps of segments, in order.
//
// `event_offset`: that of the segments; that of a launch's threads takes each thread as one segment.
//
// Contract: as WarpWeigher (segment_replay.hpp), with the events themselves in place of sums: those that
// replay_segments counts for the warp. Not thread-safe. O(events of the warp) each. Launch and `event_offset` must
// outlive this object. Errors: Internal for a warp of another size.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "scheduler-models/regrouping/segments.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::simt {

class WarpRecorder {
 public:
  WarpRecorder(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
               std::span<const std::uint64_t> event_offset, std::uint32_t warp_size, Policy policy);
  ~WarpRecorder();
  WarpRecorder(WarpRecorder&& other) noexcept;
  WarpRecorder& operator=(WarpRecorder&&) = delete;
  WarpRecorder(const WarpRecorder&) = delete;
  WarpRecorder& operator=(const WarpRecorder&) = delete;

  /// `segment_at`: warp_size entries, kNoSegment: empty. Valid until the next call.
  [[nodiscard]] std::span<const WarpEvent> record(std::span<const std::uint32_t> segment_at);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rayreplay::simt
