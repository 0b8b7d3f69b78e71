// The rays that each segment of a launch begins. Internal to this folder.
//
// Contract: a segment's rays are consecutive in its thread: those from `before` on. Where every thread is one segment,
// this costs 4 bytes a segment, else 8. O(events), parallel over threads. Launch and segments must outlive this object.
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/segments.hpp"

namespace rayreplay::memory {

class SegmentRays {
 public:
  SegmentRays(const trace::Launch& launch, const scheduler::Segments& segments);

  [[nodiscard]] std::uint32_t thread(std::uint32_t segment) const {
    return thread_of_[segment];
  }
  [[nodiscard]] std::uint64_t of_thread(std::uint32_t thread) const {
    return launch_->data.ray_offset[std::size_t{thread} + 1] - launch_->data.ray_offset[thread];
  }
  /// Rays that the thread began before the segment.
  [[nodiscard]] std::uint64_t before(std::uint32_t segment) const {
    return before_.empty() ? 0 : before_[segment];
  }
  [[nodiscard]] bool is_first(std::uint32_t segment) const {
    return segments_->first[thread_of_[segment]] == segment;
  }
  [[nodiscard]] bool is_last(std::uint32_t segment) const {
    return segments_->first[std::size_t{thread_of_[segment]} + 1] == segment + 1;
  }
  [[nodiscard]] std::uint64_t of_segment(std::uint32_t segment) const {
    const std::uint64_t end = is_last(segment) ? of_thread(thread_of_[segment]) : before(segment + 1);
    return end - before(segment);
  }

 private:
  const trace::Launch* launch_;
  const scheduler::Segments* segments_;
  trace::Column<std::uint32_t> thread_of_;  ///< by segment
  trace::Column<std::uint32_t> before_;     ///< by segment; empty: all 0
};

}  // namespace rayreplay::memory
