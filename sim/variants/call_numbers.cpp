#include "sim/variants/call_numbers.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

namespace rayreplay::experiment {
namespace {

using machine::CallCost;

constexpr std::array<std::string_view, 6> kStages = {"ray-generation", "intersection", "any-hit",
                                                     "closest-hit",    "miss",         "callable"};

std::size_t shader_of(std::size_t call) {
  return call / trace::kEventKinds;
}

bool is_of_calls(const Quantity& quantity) {
  return quantity.kind == QuantityKind::Call || quantity.kind == QuantityKind::CallLatency;
}

bool has_key(const CallGroup& group) {
  return group.quantity.key.starts_with(kCallCosts);
}

Limits limits_of_group(const CallGroup& group) {
  const double value = group.quantity.value;
  if (value == 0) {
    return {};
  }
  const bool of_latency = group.quantity.kind == QuantityKind::CallLatency;
  const double most = of_latency ? machine::kMaxLatency : machine::kMaxIssue;
  return {value * group.issue_share, group.uniform ? most : value / group.most * most};
}

bool alike(const CallCost& a, const CallCost& b) {
  return a.issue == b.issue && a.own_latency() == b.own_latency() && (!a.own_latency() || a.latency == b.latency);
}

/// As [shader_costs] has it.
std::string cost_text(const CallCost& cost) {
  return cost.own_latency() ? fmt::format("{}:{}", cost.issue, cost.latency) : fmt::format("{}", cost.issue);
}

/// Shaders whose calls of the launch have several costs, so that no cost of the shader gives them.
std::set<std::size_t> mixed_shaders(const CallGroups& calls) {
  std::vector<std::size_t> first;
  std::set<std::size_t> mixed;
  for (const CallGroup& group : calls.list()) {
    for (const std::size_t call : has_key(group) ? group.calls : std::vector<std::size_t>()) {
      const auto other = std::ranges::find(first, shader_of(call), shader_of);
      if (other == first.end()) {
        first.push_back(call);
      } else if (!alike(calls.now()[*other], calls.now()[call])) {
        mixed.insert(shader_of(call));
      }
    }
  }
  return mixed;
}

}  // namespace

std::vector<LimitedNumber> numbers_of_calls(const CallGroups& calls, const std::string& key) {
  constexpr std::string_view kLatencyOf = ":latency";
  std::string_view stage = std::string_view(key).substr(kCallCosts.size());
  const bool of_latency = stage.ends_with(kLatencyOf);
  stage.remove_suffix(of_latency ? kLatencyOf.size() : 0);
  if (std::ranges::find(kStages, stage) == kStages.end()) {
    throw Error(ErrorKind::Usage, {"of the costs of calls, those of a stage are varied together", "--break-even",
                                   fmt::format("'{}'", key),
                                   fmt::format("{}STAGE, with one of {}", kCallCosts, fmt::join(kStages, ", ")), ""});
  }
  std::vector<LimitedNumber> numbers;
  for (const CallGroup& group : calls.list()) {
    if (group.quantity.key == key) {
      numbers.push_back({group.quantity, limits_of_group(group)});
    }
  }
  if (numbers.empty()) {
    numbers.push_back({{.kind = of_latency ? QuantityKind::CallLatency : QuantityKind::Call, .key = key}, {}});
  }
  return numbers;
}

std::string fixed_because(const CallGroups& calls, const Quantity& quantity) {
  const auto group = std::ranges::find_if(
      calls.list(), [&](const CallGroup& other) { return has_key(other) && other.quantity.is(quantity); });
  if (group == calls.list().end() || group->quantity.value == 0) {
    std::string_view kind = quantity.key;
    kind.remove_prefix(std::min(kind.size(), kCallCosts.size()));
    kind = kind.substr(0, kind.find(':'));
    return quantity.kind == QuantityKind::CallLatency
               ? fmt::format("the latency of {} calls follows their instructions, or the launch makes none", kind)
               : fmt::format("{} calls cost nothing, or the launch makes none", kind);
  }
  const std::set<std::size_t> mixed = mixed_shaders(calls);
  return std::ranges::any_of(group->calls, [&](std::size_t call) { return mixed.contains(shader_of(call)); })
             ? "the trace calls of a shader have latencies of their own that differ"
             : "";
}

void set_calls(Settings& asked, const CallGroups& calls, std::span<const Quantity> quantities,
               std::span<const double> values) {
  std::vector<double> of_groups;
  std::set<std::size_t> changed;
  for (const CallGroup& group : calls.list()) {
    const auto of_group = std::ranges::find_if(
        quantities, [&](const Quantity& one) { return is_of_calls(one) && one.is(group.quantity); });
    const bool other = of_group != quantities.end() &&
                       values[static_cast<std::size_t>(of_group - quantities.begin())] != group.quantity.value;
    of_groups.push_back(other ? values[static_cast<std::size_t>(of_group - quantities.begin())] : group.quantity.value);
    if (other) {
      changed.insert(group.calls.begin(), group.calls.end());
    }
  }
  // Latencies that follow their instructions are not written, so the cycles per instruction have no effect here.
  const std::vector<CallCost> costs = changed.empty() ? std::vector<CallCost>() : calls.at(of_groups, 1, false);
  for (const std::size_t call : changed) {
    asked.set(fmt::format("{}{}", kCallCosts, shader_of(call)), cost_text(costs[call]), "");
  }
}

}  // namespace rayreplay::experiment
