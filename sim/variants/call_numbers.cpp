#include "sim/variants/call_numbers.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "sim/machine/shader_names.hpp"

namespace rayreplay::experiment {
namespace {

using machine::CallCost;

constexpr std::array<std::string_view, 6> kStages = {"ray-generation", "intersection", "any-hit",
                                                     "closest-hit",    "miss",         "callable"};

constexpr std::string_view kTraceCall = "trace-call";

/// Without ":latency".
std::string_view without_latency(std::string_view key) {
  constexpr std::string_view kLatencyOf = ":latency";
  return key.substr(0, key.size() - (key.ends_with(kLatencyOf) ? kLatencyOf.size() : 0));
}

bool is_of_calls(const Quantity& quantity) {
  return quantity.kind == QuantityKind::Call || quantity.kind == QuantityKind::CallLatency;
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

/// As [shader_costs] has it. Costs by path stay so: a factor of each call's own, in place of the mean.
std::string cost_text(const CallCost& cost, const CallCost& now) {
  const std::string issue = now.by_path() && now.issue > 0 ? fmt::format("{}x", now.times * (cost.issue / now.issue))
                                                           : fmt::format("{}", cost.issue);
  return cost.own_latency() ? fmt::format("{}:{}", issue, cost.latency) : issue;
}

}  // namespace

bool names_calls(std::string_view key) {
  return key.starts_with(kCallCosts) || without_latency(key) == kTraceCall;
}

std::vector<LimitedNumber> numbers_of_calls(const CallGroups& calls, const std::string& key) {
  const std::string_view stage = without_latency(key);
  const bool of_latency = stage.size() < key.size();
  if (stage != kTraceCall && std::ranges::find(kStages, stage.substr(kCallCosts.size())) == kStages.end()) {
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

std::string fixed_because(const Quantity& quantity) {
  if (quantity.value != 0) {
    return "";
  }
  std::string_view kind = without_latency(quantity.key);
  kind.remove_prefix(kind == kTraceCall ? 0 : kCallCosts.size());
  return quantity.kind == QuantityKind::CallLatency
             ? fmt::format("the latency of {} calls follows their instructions, or the launch makes none", kind)
             : fmt::format("{} calls cost nothing, or the launch makes none", kind);
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
    const std::string key =
        machine::key_of_call(call / trace::kEventKinds, static_cast<trace::EventKind>(call % trace::kEventKinds));
    asked.set(fmt::format("{}{}", kCallCosts, key), cost_text(costs[call], calls.now()[call]), "");
  }
}

}  // namespace rayreplay::experiment
