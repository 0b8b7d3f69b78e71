#include "sim/comparison/call_groups.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace rayreplay::experiment {
namespace {

using machine::CallCost;

constexpr std::string_view kLatencyOf = ":latency";

double number_of(const CallCost& cost, QuantityKind kind) {
  return kind == QuantityKind::Call ? cost.issue : cost.latency;
}

}  // namespace

std::pair<std::string, std::string> call_kind(trace::ShaderStage stage, trace::EventKind kind) {
  if (trace::begins_ray(kind)) {
    return stage == trace::ShaderStage::RayGeneration
               ? std::pair<std::string, std::string>{"shader_costs.ray-generation", "a trace call of ray generation"}
               : std::pair<std::string, std::string>{"trace-call", "a trace call of another shader"};
  }
  const std::string word = trace::to_string(stage);
  const bool vowel = !word.empty() && std::string_view("aeiou").find(word.front()) != std::string_view::npos;
  return {"shader_costs." + word, fmt::format("{} {} call", vowel ? "an" : "a", word)};
}

std::size_t call_index(const simt::CallTally& call) {
  return std::size_t{call.shader} * trace::kEventKinds + static_cast<std::size_t>(call.kind);
}

CallGroups::CallGroups(const std::vector<trace::Shader>& shaders, std::span<const simt::CallTally> called,
                       std::vector<CallCost> costs)
    : now_(std::move(costs)) {
  for (const QuantityKind kind : {QuantityKind::Call, QuantityKind::CallLatency}) {
    for (const simt::CallTally& call : called) {
      if (trace::is_warp_event(call.kind)) {
        add(shaders[call.shader], call, kind);
      }
    }
  }
  finish();
}

void CallGroups::add(const trace::Shader& shader, const simt::CallTally& call, QuantityKind kind) {
  const std::size_t index = call_index(call);
  const CallCost& cost = now_[index];
  const bool of_latency = kind == QuantityKind::CallLatency;
  if (of_latency && !cost.own_latency()) {
    reads_cycles_per_instruction_ = true;
    return;
  }
  auto [key, name] = call_kind(shader.stage, call.kind);
  Quantity quantity{.kind = kind, .origin = machine::origin_of_source(of_latency ? cost.latency_origin : cost.origin)};
  quantity.key = of_latency ? key + std::string(kLatencyOf) : std::move(key);
  quantity.name = of_latency ? "the latency of " + name : std::move(name);
  quantity.unit = of_latency ? "cycles" : "instructions";
  const double value = number_of(cost, kind);
  auto group = std::ranges::find_if(groups_, [&](const CallGroup& other) { return other.quantity.is(quantity); });
  if (group == groups_.end()) {
    group = groups_.insert(groups_.end(), {.quantity = std::move(quantity), .least = value, .most = value});
    sums_.emplace_back();
  }
  group->uniform = group->uniform && value == group->least;
  group->least = std::min(group->least, value);
  group->most = std::max(group->most, value);
  if (of_latency && cost.latency > 0) {
    group->issue_share = std::max(group->issue_share, cost.issue / cost.latency);
  }
  group->calls.push_back(index);
  const auto lanes = static_cast<double>(call.tally.active_lanes);
  auto& [values, calls] = sums_[static_cast<std::size_t>(group - groups_.begin())];
  values += lanes * value;
  calls += lanes;
}

void CallGroups::finish() {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    CallGroup& group = groups_[i];
    const auto& [values, calls] = sums_[i];
    group.quantity.value = group.uniform ? group.least : calls > 0 ? values / calls : 0;
    group.quantity.low = group.quantity.high = group.quantity.value;
    const auto of_key = [&](const CallGroup& other) { return other.quantity.key == group.quantity.key; };
    if (std::ranges::count_if(groups_, of_key) > 1) {
      group.quantity.name +=
          fmt::format(" whose {} is {}", group.quantity.kind == QuantityKind::Call ? "cost" : "value",
                      to_string(group.quantity.origin));
    }
  }
  sums_.clear();
}

std::vector<CallCost> CallGroups::at(std::span<const double> values, double cycles_per_instruction,
                                     bool other_latency) const {
  std::vector<CallCost> calls = now_;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const CallGroup& group = groups_[i];
    const bool other = values[i] != group.quantity.value;
    for (const std::size_t index : group.calls) {
      CallCost& cost = calls[index];
      const bool of_latency = group.quantity.kind == QuantityKind::CallLatency;
      double& number = of_latency ? cost.latency : cost.issue;
      if (other) {
        number = group.uniform ? values[i]
                               : number_of(now_[index], group.quantity.kind) * (values[i] / group.quantity.value);
      }
      if (cost.own_latency()) {
        cost.latency = std::max(cost.latency, cost.issue);
      } else if (other || other_latency) {
        cost.latency = cost.issue * cycles_per_instruction;
      }
    }
  }
  return calls;
}

}  // namespace rayreplay::experiment
