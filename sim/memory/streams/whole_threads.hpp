// Whole threads as the work of warps: each is one segment. Internal to this folder.
//
// Contract: threads without events have no segment; their lanes are empty. `work` refers to this object. O(threads).
#pragma once

#include <cstdint>
#include <vector>

#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::memory {

struct WholeThreads {
  scheduler::Segments segments;
  std::vector<std::uint32_t> segment_at;
  std::vector<std::uint32_t> thread_at;

  /// `places`: items · warp size threads, scheduler::kNoThread for empty lanes.
  WholeThreads(const trace::ThreadData& data, std::vector<std::uint32_t> places);

  [[nodiscard]] LaunchWork work() const {
    return {.segments = &segments, .segment_at = segment_at, .thread_at = thread_at};
  }
};

}  // namespace rayreplay::memory
