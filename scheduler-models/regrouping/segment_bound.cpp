#include "scheduler-models/regrouping/segment_bound.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {
namespace {

using trace::kEventKinds;

constexpr std::size_t kThreadsPerTask = 1024;
constexpr std::size_t kMaxCounters = std::size_t{1} << 20;

/// Index: (round − first) · calls + kind · shaders + shader.
using Counts = std::vector<std::uint64_t>;

/// Calls of the rounds [first, first + rounds) of these threads.
Counts count_calls(const trace::Events& events, const Segments& segments, const std::vector<std::uint32_t>& threads,
                   std::uint32_t first, std::uint32_t rounds, std::size_t shaders) {
  const std::size_t calls = shaders * kEventKinds;
  tbb::enumerable_thread_specific<Counts> workers(Counts(rounds * calls));
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, threads.size(), kThreadsPerTask), [&](const auto& range) {
    Counts& counts = workers.local();
    for (std::size_t i = range.begin(); i != range.end(); ++i) {
      const std::uint32_t begin = segments.first[threads[i]] + first;
      const std::uint32_t end = segments.first[threads[i] + std::size_t{1}];
      for (std::uint32_t segment = begin; segment < end && segment - begin < rounds; ++segment) {
        std::uint64_t* const of_round = counts.data() + (segment - begin) * calls;
        for (std::uint64_t row = segments.event_offset[segment]; row < segments.event_offset[segment + std::size_t{1}];
             ++row) {
          ++of_round[static_cast<std::size_t>(events.kind[row]) * shaders + events.shader[row]];
        }
      }
    }
  });
  Counts sum(rounds * calls);
  for (const Counts& counts : workers) {
    std::transform(sum.begin(), sum.end(), counts.begin(), sum.begin(), std::plus<>());
  }
  return sum;
}

void add(BoundSum& to, std::uint64_t warp_events, std::uint64_t calls) {
  to.warp_events += warp_events;
  to.calls += calls;
}

}  // namespace

SegmentBound segment_bound(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                           const Segments& segments, std::uint32_t warp_size) {
  check_warp_size(warp_size);
  SegmentBound bound;
  bound.by_round.resize(segments.most_of_a_thread);
  const std::size_t calls = shaders.size() * kEventKinds;
  std::vector<BoundSum> by_call(calls);
  std::vector<std::uint32_t> threads(launch.data.threads());
  std::iota(threads.begin(), threads.end(), 0U);
  const auto rounds_at_once = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(kMaxCounters / std::max<std::size_t>(calls, 1), 1, kMaxCounters));
  for (std::uint32_t first = 0; first < segments.most_of_a_thread; first += rounds_at_once) {
    std::erase_if(threads, [&](std::uint32_t thread) {
      return segments.first[thread + std::size_t{1}] - segments.first[thread] <= first;
    });
    const std::uint32_t rounds = std::min(rounds_at_once, segments.most_of_a_thread - first);
    const Counts counts = count_calls(launch.data.events, segments, threads, first, rounds, shaders.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0 && trace::is_warp_event(static_cast<trace::EventKind>(i % calls / shaders.size()))) {
        const std::uint64_t warp_events = (counts[i] + warp_size - 1) / warp_size;
        add(by_call[i % calls], warp_events, counts[i]);
        add(bound.by_round[first + i / calls], warp_events, counts[i]);
        add(bound.total, warp_events, counts[i]);
      }
    }
  }
  for (std::size_t call = 0; call < calls; ++call) {
    if (by_call[call].calls > 0) {
      bound.by_call.push_back({static_cast<trace::EventKind>(call / shaders.size()),
                               static_cast<std::uint16_t>(call % shaders.size()), by_call[call]});
    }
  }
  if (bound.total.warp_events > 0) {
    bound.efficiency = static_cast<double>(bound.total.calls) /
                       (static_cast<double>(warp_size) * static_cast<double>(bound.total.warp_events));
  }
  return bound;
}

}  // namespace rayreplay::scheduler
