#include "scheduler-models/bound.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "base/error.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {
namespace {

/// Counting neighbours apart keeps equal calls in a row from waiting for each other's addition.
constexpr std::size_t kLanes = 4;
using Count = std::array<std::uint64_t, kLanes>;

}  // namespace

Bound lower_bound(const trace::Launch& launch, std::uint32_t warp_size) {
  if (warp_size == 0 || warp_size > kMaxWarpSize) {
    throw Error(ErrorKind::Usage, {"the warp size is out of range", "", fmt::format("{}", warp_size),
                                   fmt::format("1 to {}", kMaxWarpSize), ""});
  }
  const auto& events = launch.data.events;
  const auto last_shader = std::max_element(events.shader.begin(), events.shader.end());
  const std::size_t shaders = last_shader == events.shader.end() ? 0 : std::size_t{*last_shader} + 1;
  constexpr std::size_t kRowsPerTask = std::size_t{1} << 22;
  const std::vector<Count> calls = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, events.size(), kRowsPerTask),
      std::vector<Count>(shaders * trace::kEventKinds, Count{}),
      [&](const auto& range, std::vector<Count> count) {
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
  Bound bound;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (trace::is_warp_event(static_cast<trace::EventKind>(i / shaders))) {
      const std::uint64_t count = calls[i][0] + calls[i][1] + calls[i][2] + calls[i][3];
      bound.calls += count;
      bound.warp_events += count / warp_size + (count % warp_size != 0 ? 1 : 0);
    }
  }
  if (bound.warp_events > 0) {
    bound.efficiency =
        static_cast<double>(bound.calls) / (static_cast<double>(warp_size) * static_cast<double>(bound.warp_events));
  }
  return bound;
}

}  // namespace rayreplay::scheduler
