// Latencies from the clocks of co-execution groups.
#include <algorithm>

#include "sim/machine/cost_sources.hpp"

namespace rayreplay::machine {
namespace {

constexpr std::uint32_t kNoCall = 0xFFFF'FFFFU;

/// The call of each group, by its first event.
std::vector<std::uint32_t> calls_of_groups(const trace::Launch& launch, std::size_t shaders) {
  const trace::Events& events = launch.data.events;
  std::vector<std::uint32_t> calls(launch.groups.size(), kNoCall);
  for (std::size_t row = 0; row < events.group.size(); ++row) {
    const std::uint32_t group = events.group[row];
    if (group < calls.size() && calls[group] == kNoCall && events.shader[row] < shaders) {
      calls[group] = static_cast<std::uint32_t>(events.shader[row] * trace::kEventKinds) +
                     static_cast<std::uint32_t>(events.kind[row]);
    }
  }
  return calls;
}

}  // namespace

std::vector<double> captured_nanoseconds(const trace::Launch& launch, std::size_t shaders) {
  const trace::Groups& groups = launch.groups;
  const auto [least, most] = std::minmax_element(groups.clock.begin(), groups.clock.end());
  if (groups.clock.empty() || launch.data.events.group.empty() || *least == *most) {
    return {};
  }
  const std::vector<std::uint32_t> calls = calls_of_groups(launch, shaders);
  std::vector<std::uint32_t> order;
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    if (groups.warp[group] != trace::kNone) {
      order.push_back(group);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return groups.warp[a] < groups.warp[b]; });
  std::vector<std::vector<std::uint64_t>> differences(shaders * trace::kEventKinds);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const std::uint32_t group = order[i];
    const std::uint32_t next = order[i + 1];
    if (groups.warp[group] == groups.warp[next] && groups.clock[group] <= groups.clock[next] &&
        calls[group] != kNoCall) {
      differences[calls[group]].push_back(groups.clock[next] - groups.clock[group]);
    }
  }
  std::vector<double> result(differences.size(), -1.0);
  for (std::size_t call = 0; call < differences.size(); ++call) {
    std::vector<std::uint64_t>& values = differences[call];
    if (!values.empty()) {
      const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      std::nth_element(values.begin(), middle, values.end());
      result[call] = static_cast<double>(*middle);
    }
  }
  return result;
}

}  // namespace rayreplay::machine
