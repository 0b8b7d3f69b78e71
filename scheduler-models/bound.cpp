#include "scheduler-models/bound.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {
namespace {

constexpr std::size_t kRowsPerTask = std::size_t{1} << 20;
using Range = tbb::blocked_range<std::size_t>;

/// Four partial counts: equal calls in a row need not wait for each other's addition.
constexpr std::size_t kLanes = 4;
using Count = std::array<std::uint64_t, kLanes>;

std::size_t shaders_of(const trace::Column<std::uint16_t>& shader) {
  if (shader.empty()) {
    return 0;
  }
  const auto greater = [](std::uint16_t a, std::uint16_t b) { return std::max(a, b); };
  const std::uint16_t last = tbb::parallel_reduce(
      Range(0, shader.size(), kRowsPerTask), std::uint16_t{0},
      [rows = shader.data(), &greater](const Range& range, std::uint16_t most) {
        return std::accumulate(rows + range.begin(), rows + range.end(), most, greater);
      },
      greater);
  return std::size_t{last} + 1;
}

CallCounts count_calls(const trace::Events& events) {
  const std::size_t shaders = shaders_of(events.shader);
  const std::vector<Count> calls = tbb::parallel_reduce(
      Range(0, events.size(), kRowsPerTask), std::vector<Count>(shaders * trace::kEventKinds, Count{}),
      [&](const Range& range, std::vector<Count> count) {
        for (std::size_t row = range.begin(); row < range.end(); ++row) {
          ++count[static_cast<std::size_t>(events.kind[row]) * shaders + events.shader[row]][row % kLanes];
        }
        return count;
      },
      [](std::vector<Count> a, const std::vector<Count>& b) {
        for (std::size_t i = 0; i < a.size(); ++i) {
          for (std::size_t lane = 0; lane < kLanes; ++lane) {
            a[i][lane] += b[i][lane];
          }
        }
        return a;
      });
  CallCounts result;
  result.shaders = static_cast<std::uint32_t>(shaders);
  for (const Count& count : calls) {
    result.count.push_back(std::accumulate(count.begin(), count.end(), std::uint64_t{0}));
  }
  return result;
}

Bound bound_of(const CallCounts& calls, std::uint32_t warp_size) {
  Bound bound;
  for (std::size_t i = 0; i < calls.count.size(); ++i) {
    if (trace::is_warp_event(static_cast<trace::EventKind>(i / calls.shaders))) {
      bound.calls += calls.count[i];
      bound.warp_events += calls.count[i] / warp_size + (calls.count[i] % warp_size != 0 ? 1 : 0);
    }
  }
  if (bound.warp_events > 0) {
    bound.efficiency =
        static_cast<double>(bound.calls) / (static_cast<double>(warp_size) * static_cast<double>(bound.warp_events));
  }
  return bound;
}

}  // namespace

Bound lower_bound(const trace::Launch& launch, std::uint32_t warp_size, trace::AcceleratedLaunch* accelerated) {
  check_warp_size(warp_size);
  return bound_of(call_counts_twin.run(
                      accelerator_of(accelerated), [&] { return count_calls(launch.data.events); }, accelerated),
                  warp_size);
}

}  // namespace rayreplay::scheduler
