#include "sim/launch/launch_work.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "sim/memory/streams/warp_work.hpp"

namespace rayreplay::experiment {
namespace {

std::uint32_t rounded(double value) {
  return static_cast<std::uint32_t>(std::llround(value));
}

class CostsByPath final : public memory::LaneCosts {
 public:
  explicit CostsByPath(const machine::Costs& costs) : calls_(costs.calls), paths_(costs.paths) {}

  [[nodiscard]] bool has(std::uint32_t call) const override {
    return paths_->place(call) != machine::PathCosts::kNone;
  }
  [[nodiscard]] memory::CallWork of(std::uint32_t call, std::span<const std::uint64_t> events) const override {
    std::vector<std::uint32_t> ways;
    ways.reserve(events.size());
    for (const std::uint64_t event : events) {
      ways.push_back(paths_->way(event));
    }
    const std::uint32_t place = paths_->place(call);
    const double mean = paths_->calls()[place].mean;
    const double slots = paths_->group(place, ways);
    const machine::CallCost& cost = calls_[call];
    const double issue = std::min(slots * (cost.issue / mean), machine::kMaxIssue);
    const double latency = cost.own_latency() ? std::max(cost.latency, issue)
                                              : std::min(slots * (cost.latency / mean), machine::kMaxLatency);
    return {rounded(issue * memory::kIssueScale), rounded(latency)};
  }

 private:
  std::vector<machine::CallCost> calls_;
  std::shared_ptr<const machine::PathCosts> paths_;
};

/// By segment: 1 for the first of a thread.
std::vector<std::uint8_t> firsts(const scheduler::Segments& segments) {
  std::vector<std::uint8_t> is_first(segments.size());
  for (std::size_t thread = 0; thread + 1 < segments.first.size(); ++thread) {
    if (segments.first[thread] < segments.first[thread + 1]) {
      is_first[segments.first[thread]] = 1;
    }
  }
  return is_first;
}

/// Warps at launch that have segments.
std::size_t launched_warps(const RegroupedLaunch& regrouped) {
  const scheduler::WarpAssignment& start = regrouped.forming->start;
  const std::span<const std::uint32_t> threads = start.thread_at;
  std::size_t warps = 0;
  for (std::size_t warp = 0; warp < start.warps(); ++warp) {
    warps += std::ranges::any_of(threads.subspan(warp * start.warp_size, start.warp_size), [&](std::uint32_t thread) {
      return thread != scheduler::kNoThread &&
             regrouped.segments.first[thread] < regrouped.segments.first[std::size_t{thread} + 1];
    });
  }
  return warps;
}

/// Timed models: launched warps have the first segments of their threads, formed ones later segments.
void delay_formed(const scheduler::Segments& segments, const scheduler::SegmentSchedule& schedule, std::uint32_t cycles,
                  std::vector<std::uint32_t>& delays) {
  const std::vector<std::uint8_t> is_first = firsts(segments);
  const std::size_t lanes = schedule.warp_size;
  for (std::size_t warp = 0; warp < delays.size(); ++warp) {
    const auto of_warp = std::span(schedule.segment_at).subspan(warp * lanes, lanes);
    const auto segment = std::ranges::find_if(of_warp, [](std::uint32_t at) { return at != scheduler::kNoSegment; });
    if (segment != of_warp.end() && is_first[*segment] == 0) {
      delays[warp] = cycles;
    }
  }
}

void delay_rounds(const scheduler::SegmentSchedule& schedule, const scheduler::Charges& charges,
                  std::vector<std::uint32_t>& delays) {
  for (std::size_t unit = 0; unit < schedule.units(); ++unit) {
    const std::uint64_t first = schedule.unit_begin[unit];
    const std::uint64_t end = schedule.unit_begin[unit + 1];
    if (first == end) {
      continue;
    }
    const std::uint64_t formed = schedule.round_begin[first + 1];
    const bool exchanges = formed - schedule.round_begin[first] > 1;
    const std::uint32_t cycles = rounded(charges.cycles_per_cut + (exchanges ? charges.cycles_per_warp : 0));
    std::fill(delays.begin() + static_cast<std::ptrdiff_t>(formed),
              delays.begin() + static_cast<std::ptrdiff_t>(schedule.round_begin[end]), cycles);
  }
}

}  // namespace

std::vector<memory::CallWork> call_work(const machine::Costs& costs) {
  std::vector<memory::CallWork> work(costs.calls.size());
  for (std::size_t call = 0; call < work.size(); ++call) {
    if (trace::is_warp_event(static_cast<trace::EventKind>(call % trace::kEventKinds))) {
      work[call] = {rounded(costs.calls[call].issue * memory::kIssueScale), rounded(costs.calls[call].latency)};
    }
  }
  return work;
}

std::shared_ptr<const memory::LaneCosts> lane_costs(const machine::Costs& costs) {
  return costs.paths == nullptr ? nullptr : std::make_shared<CostsByPath>(costs);
}

std::vector<std::uint32_t> start_delays(const scheduler::Segments& segments, const scheduler::SegmentSchedule& schedule,
                                        const scheduler::Charges& charges, bool is_timed) {
  const double most = charges.cycles_per_cut + charges.cycles_per_warp;
  if (rounded(most) == 0) {
    return {};
  }
  std::vector<std::uint32_t> delays(schedule.warps());
  if (is_timed) {
    delay_formed(segments, schedule, rounded(most), delays);
  } else {
    delay_rounds(schedule, charges, delays);
  }
  return delays;
}

std::vector<std::uint32_t> start_delays(const RegroupedLaunch& regrouped) {
  if (regrouped.forming) {
    const std::uint32_t most = rounded(regrouped.charges.cycles_per_cut + regrouped.charges.cycles_per_warp);
    if (most == 0) {
      return {};
    }
    std::vector<std::uint32_t> delays(launched_warps(regrouped), 0);
    if (regrouped.segments.most_of_a_thread > 1) {
      delays.push_back(most);
    }
    return delays;
  }
  return regrouped.start_delay.empty()
             ? start_delays(regrouped.segments, regrouped.schedule, regrouped.charges, !regrouped.sm.empty())
             : regrouped.start_delay;
}

}  // namespace rayreplay::experiment
