#include "sim/memory/streams/segment_rays.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace rayreplay::memory {

SegmentRays::SegmentRays(const trace::Launch& launch, const scheduler::Segments& segments)
    : launch_(&launch), segments_(&segments), thread_of_(segments.size()) {
  // The first segment of a thread has no rays before it.
  before_.resize(segments.most_of_a_thread > 1 ? segments.size() : 0);
  constexpr std::size_t kThreadsPerTask = 1024;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, launch.data.threads(), kThreadsPerTask), [&](const auto& range) {
    for (std::size_t thread = range.begin(); thread != range.end(); ++thread) {
      std::uint32_t begun = 0;
      for (std::uint32_t segment = segments.first[thread]; segment < segments.first[thread + 1]; ++segment) {
        thread_of_[segment] = static_cast<std::uint32_t>(thread);
        if (!before_.empty()) {
          before_[segment] = begun;
          for (std::uint64_t event = segments.event_offset[segment]; event < segments.event_offset[segment + 1];
               ++event) {
            begun += trace::begins_ray(launch.data.events.kind[event]) ? 1U : 0U;
          }
        }
      }
    }
  });
}

}  // namespace rayreplay::memory
