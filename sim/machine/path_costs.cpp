#include "sim/machine/path_costs.hpp"

#include <algorithm>
#include <limits>

#include "sim/machine/costs.hpp"

namespace rayreplay::machine {

PathCosts::PathCosts(const trace::Trace& trace, const trace::Launch& launch)
    : events_(trace, launch),
      means_(trace.shaders.size(), -1.0),
      least_(trace.shaders.size(), std::numeric_limits<double>::max()),
      place_(trace.shaders.size() * trace::kEventKinds, kNone) {
  for (std::uint32_t way = 1; way <= events_.ways(); ++way) {
    cost_.push_back(slots({&way, 1}));
  }
  take_means(launch);
}

double PathCosts::slots(std::span<const std::uint32_t> ways) const {
  return std::min(events_.issue_slots(ways), kMaxIssue);
}

void PathCosts::take_means(const trace::Launch& launch) {
  std::vector<std::uint64_t> events(events_.ways());
  for (std::size_t row = 0; row < launch.data.events.size(); ++row) {
    if (const std::uint32_t way = events_.way(row); way != 0) {
      ++events[way - 1];
    }
  }
  struct Sum {
    double slots = 0, events = 0;
  };
  std::vector<Sum> sums(means_.size());
  for (std::uint32_t way = 0; way < events_.ways(); ++way) {
    if (events[way] != 0) {
      const std::uint16_t shader = events_.shader(way + 1);
      sums[shader].slots += static_cast<double>(events[way]) * cost_[way];
      sums[shader].events += static_cast<double>(events[way]);
      least_[shader] = std::min(least_[shader], cost_[way]);
    }
  }
  for (std::size_t shader = 0; shader < sums.size(); ++shader) {
    if (sums[shader].events > 0) {
      means_[shader] = sums[shader].slots / sums[shader].events;
    }
  }
}

void PathCosts::choose(std::span<const std::size_t> calls) {
  calls_.clear();
  std::fill(place_.begin(), place_.end(), kNone);
  for (const std::size_t call : calls) {
    const std::size_t shader = call / trace::kEventKinds;
    if (means_[shader] > 0) {
      place_[call] = static_cast<std::uint32_t>(calls_.size());
      calls_.push_back({call, means_[shader], least_[shader]});
    }
  }
}

double PathCosts::group(std::uint32_t place, std::vector<std::uint32_t>& ways) const {
  std::sort(ways.begin(), ways.end());
  const double unknown = ways.front() == 0 ? calls_[place].mean : 0;
  if (ways.back() == 0) {
    return unknown;
  }
  const auto end = std::unique(ways.begin(), ways.end());
  const auto first = ways.begin() + (ways.front() == 0 ? 1 : 0);
  const std::span<const std::uint32_t> known(first, end);
  return std::max(unknown, known.size() == 1 ? cost_[known.front() - 1] : slots(known));
}

std::shared_ptr<PathCosts> measure_paths(const trace::Trace& trace, const trace::Launch& launch) {
  if (trace.paths.size() == 0 || (launch.data.events.path.empty() && launch.thread_path.empty())) {
    return nullptr;
  }
  auto costs = std::make_shared<PathCosts>(trace, launch);
  const bool is_known = std::ranges::any_of(costs->means(), [](double mean) { return mean >= 0; });
  return is_known ? costs : nullptr;
}

}  // namespace rayreplay::machine
