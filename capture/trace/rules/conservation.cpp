#include "capture/trace/rules/conservation.hpp"

#include <algorithm>
#include <numeric>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "capture/trace/rules/grammar.hpp"

namespace rayreplay::trace {
namespace {

constexpr std::size_t kThreadsATask = std::size_t{1} << 12U;

/// Facts about the ends of a launch's rays that do not depend on its events.
class Ends {
 public:
  explicit Ends(const Launch& launch) : launch_(launch) {
    for (const ShaderRecord& record : launch.shader_table) {
      hits_without_shader_ |= record.region == TableRegion::Hit && record.closest_hit == kNoShader;
      if (record.region == TableRegion::Miss && record.general != kNoShader) {
        misses_with_shader_.push_back(record.index);
      }
    }
    std::sort(misses_with_shader_.begin(), misses_with_shader_.end());
  }

  [[nodiscard]] NoEnd reason(std::uint64_t ray) const {
    if (launch_.dropped_events != 0) {
      return NoEnd::Dropped;
    }
    if (!launch_.data.events.ray.empty()) {
      return NoEnd::HitObject;
    }
    if (launch_.shader_table.empty()) {
      return NoEnd::TableUnknown;
    }
    const bool miss_has_shader = std::binary_search(misses_with_shader_.begin(), misses_with_shader_.end(),
                                                    std::uint32_t{launch_.data.rays.miss_index[ray]});
    return hits_without_shader_ || !miss_has_shader ? NoEnd::NoShader : NoEnd::Lost;
  }

 private:
  const Launch& launch_;
  bool hits_without_shader_ = false;
  std::vector<std::uint32_t> misses_with_shader_;
};

EventCounts sum(EventCounts a, const EventCounts& b) {
  a.threads += b.threads;
  a.threads_with_events += b.threads_with_events;
  a.rays += b.rays;
  for (std::size_t i = 0; i < a.by_kind.size(); ++i) {
    a.by_kind.at(i) += b.by_kind.at(i);
  }
  for (std::size_t i = 0; i < a.no_end.size(); ++i) {
    a.no_end.at(i) += b.no_end.at(i);
  }
  return a;
}

/// `open`: scratch, one entry for each ray of the thread.
void count_thread(const ThreadData& data, std::size_t thread, const Ends& ends, std::vector<bool>& open,
                  EventCounts& counts) {
  ++counts.threads;
  const std::uint64_t first = data.event_offset[thread];
  const std::uint64_t last = data.event_offset[thread + 1];
  counts.threads_with_events += first != last ? 1U : 0U;
  open.clear();
  for (std::uint64_t e = first; e < last; ++e) {
    const EventKind kind = data.events.kind[e];
    ++counts.by_kind.at(static_cast<std::size_t>(kind));
    if (begins_ray(kind)) {
      open.push_back(kind == EventKind::Begin);
    } else if (kind == EventKind::ClosestHit || kind == EventKind::Miss) {
      open[data.events.ray.empty() ? open.size() - 1 : data.events.ray[e]] = false;
    }
  }
  counts.rays += open.size();
  for (std::size_t ray = 0; ray < open.size(); ++ray) {
    if (open[ray]) {
      ++counts.no_end.at(static_cast<std::size_t>(ends.reason(data.ray_offset[thread] + ray)));
    }
  }
}

EventCounts count_launch(const Launch& launch) {
  const Ends ends(launch);
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, launch.data.threads(), kThreadsATask), EventCounts{},
      [&](const auto& range, EventCounts counts) {
        std::vector<bool> open;
        for (std::size_t thread = range.begin(); thread != range.end(); ++thread) {
          count_thread(launch.data, thread, ends, open, counts);
        }
        return counts;
      },
      sum);
}

}  // namespace

const char* to_string(NoEnd reason) {
  constexpr std::array kNames = {"dropped", "hit_object", "table_unknown", "no_shader", "lost"};
  static_assert(kNames.size() == kNoEnds);
  return kNames.at(static_cast<std::size_t>(reason));
}

std::uint64_t EventCounts::without_end() const {
  return std::accumulate(no_end.begin(), no_end.end(), std::uint64_t{0});
}

std::vector<EventCounts> count_events(const Trace& trace) {
  std::vector<EventCounts> counts;
  counts.reserve(trace.launches.size());
  for (const Launch& launch : trace.launches) {
    counts.push_back(count_launch(launch));
  }
  return counts;
}

}  // namespace rayreplay::trace
