#include "sim/machine/path_weigher.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/machine/job_maker.hpp"

namespace rayreplay::machine {

PathWeigher::PathWeigher(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                         const scheduler::Segments& segments, std::uint32_t warp_size, simt::Policy policy,
                         const PathCosts& paths)
    : events_(&launch.data.events),
      segments_(&segments),
      paths_(&paths),
      recorder_(launch, shaders, segments, warp_size, policy),
      next_(warp_size),
      sums_(paths.calls().size()) {}

std::span<const std::uint64_t> PathWeigher::weigh(std::span<const std::uint32_t> segment_at) {
  const std::span<const simt::WarpEvent> events = recorder_.record(segment_at);
  std::fill(sums_.begin(), sums_.end(), 0U);
  for (std::size_t lane = 0; lane < segment_at.size(); ++lane) {
    if (segment_at[lane] != scheduler::kNoSegment) {
      next_[lane] = segments_->event_offset[segment_at[lane]];
    }
  }
  for (const simt::WarpEvent& event : events) {
    const std::uint32_t place =
        paths_->place(std::size_t{event.shader} * trace::kEventKinds + static_cast<std::size_t>(event.kind));
    ways_.clear();
    for (std::uint64_t left = event.mask; left != 0; left &= left - 1) {
      std::uint64_t& row = next_[static_cast<std::size_t>(std::countr_zero(left))];
      while (!trace::is_warp_event(events_->kind[row])) {
        ++row;
      }
      ways_.push_back(paths_->way(row++));
    }
    if (place != PathCosts::kNone) {
      sums_[place] += scaled_cost(paths_->group(place, ways_));
    }
  }
  return sums_;
}

void add_paths(const PathCosts& paths, const std::vector<CallCost>& calls, std::span<const std::uint64_t> sums,
               std::uint64_t& issue, std::uint64_t& latency) {
  for (std::size_t place = 0; place < sums.size(); ++place) {
    const PathCall& of = paths.calls()[place];
    const CallCost& cost = calls[of.call];
    const auto sum = static_cast<double>(sums[place]);
    issue += static_cast<std::uint64_t>(std::llround(sum * (cost.issue / of.mean)));
    if (!cost.own_latency()) {
      latency += static_cast<std::uint64_t>(std::llround(sum * (cost.latency / of.mean)));
    }
  }
}

}  // namespace rayreplay::machine
