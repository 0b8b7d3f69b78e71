#include "sim/memory/streams/whole_threads.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::memory {
namespace {

/// Threads of one segment each; threads without events have none.
scheduler::Segments whole_threads(const trace::ThreadData& data) {
  scheduler::Segments segments;
  const std::size_t threads = data.threads();
  segments.first.resize(threads + 1);
  segments.first[0] = 0;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    const bool any = data.event_offset[thread] < data.event_offset[thread + 1];
    segments.first[thread + 1] = segments.first[thread] + (any ? 1U : 0U);
    if (any) {
      segments.event_offset.push_back(data.event_offset[thread]);
    }
  }
  segments.event_offset.push_back(data.events.size());
  segments.bounce.resize(segments.first.back());
  std::fill(segments.bounce.begin(), segments.bounce.end(), std::uint16_t{0});
  segments.most_of_a_thread = segments.first.back() == 0 ? 0 : 1;
  return segments;
}

}  // namespace

WholeThreads::WholeThreads(const trace::ThreadData& data, std::vector<std::uint32_t> places)
    : segments(whole_threads(data)), thread_at(std::move(places)) {
  segment_at.reserve(thread_at.size());
  for (const std::uint32_t thread : thread_at) {
    const bool any = thread != scheduler::kNoThread && segments.first[thread] < segments.first[std::size_t{thread} + 1];
    segment_at.push_back(any ? segments.first[thread] : scheduler::kNoSegment);
  }
}

}  // namespace rayreplay::memory
