#include "sim/comparison/path_score.hpp"

#include <functional>
#include <numeric>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_reduce.h>

#include "sim/machine/job_maker.hpp"
#include "sim/machine/path_weigher.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::size_t kWarpsAPiece = 1024;
constexpr std::size_t kEventsAPiece = 1 << 16;

std::size_t call_of(const trace::Events& events, std::size_t row) {
  return std::size_t{events.shader[row]} * trace::kEventKinds + static_cast<std::size_t>(events.kind[row]);
}

/// Sum over [0, size) of what `part` gives for pieces of it.
template <class Part>
std::uint64_t sum_over(std::size_t size, std::size_t piece, const Part& part) {
  using Range = oneapi::tbb::blocked_range<std::size_t>;
  return oneapi::tbb::parallel_reduce(
      Range(0, size, piece), std::uint64_t{0},
      [&](const Range& range, std::uint64_t sum) { return sum + part(range.begin(), range.end()); }, std::plus<>());
}

}  // namespace

PathScore::PathScore(const trace::Trace& trace, const trace::Launch& launch, const machine::Costs& costs,
                     simt::Policy policy)
    : trace_(trace),
      launch_(launch),
      costs_(costs),
      policy_(policy),
      weights_(machine::job_weights(costs).at(machine::kIssueWeight)) {
  const trace::Events& events = launch.data.events;
  of_lanes_ = sum_over(events.size(), kEventsAPiece, [&](std::size_t first, std::size_t last) {
    std::uint64_t sum = 0;
    std::vector<std::uint32_t> way;
    for (std::size_t row = first; row < last; ++row) {
      if (!trace::is_warp_event(events.kind[row])) {
        continue;
      }
      const std::size_t call = call_of(events, row);
      const std::uint32_t place = costs_.paths->place(call);
      way.assign(1, costs_.paths->way(row));
      sum +=
          place == machine::PathCosts::kNone ? weights_[call] : machine::scaled_cost(costs_.paths->group(place, way));
    }
    return sum;
  });
}

std::uint64_t PathScore::issued(const scheduler::Segments& segments, std::span<const std::uint32_t> segment_at,
                                std::uint32_t warp_size, std::span<const std::uint64_t> weights) const {
  oneapi::tbb::enumerable_thread_specific<machine::PathWeigher> weighers(
      [&] { return machine::PathWeigher(launch_, trace_.shaders, segments, warp_size, policy_, *costs_.paths); });
  const std::uint64_t by_path =
      sum_over(segment_at.size() / warp_size, kWarpsAPiece, [&](std::size_t first, std::size_t last) {
        machine::PathWeigher& weigher = weighers.local();
        std::uint64_t sum = 0;
        for (std::size_t warp = first; warp < last; ++warp) {
          const auto sums = weigher.weigh(segment_at.subspan(warp * warp_size, warp_size));
          sum = std::accumulate(sums.begin(), sums.end(), sum);
        }
        return sum;
      });
  return std::accumulate(weights.begin(), weights.end(), by_path);
}

double PathScore::efficiency(std::uint64_t issued, std::uint32_t warp_size) const {
  return issued == 0 ? 0
                     : static_cast<double>(of_lanes_) / (static_cast<double>(warp_size) * static_cast<double>(issued));
}

}  // namespace rayreplay::experiment
