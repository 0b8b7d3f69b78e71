// Numbers of calls without a trace: each call by a shader of its own, made by one lane.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/comparison/call_groups.hpp"

namespace rayreplay::test {

struct OneCall {
  trace::ShaderStage stage = trace::ShaderStage::ClosestHit;
  trace::EventKind kind = trace::EventKind::ClosestHit;
  machine::CallCost cost{};
  std::uint64_t lanes = 1;
};

inline experiment::CallGroups groups_of(const std::vector<OneCall>& list) {
  std::vector<trace::Shader> shaders(list.size());
  std::vector<simt::CallTally> called;
  std::vector<machine::CallCost> costs(list.size() * trace::kEventKinds);
  for (std::size_t i = 0; i < list.size(); ++i) {
    shaders[i].stage = list[i].stage;
    simt::Tally tally;
    tally.active_lanes = list[i].lanes;
    called.push_back({list[i].kind, static_cast<std::uint16_t>(i), tally});
    costs[i * trace::kEventKinds + static_cast<std::size_t>(list[i].kind)] = list[i].cost;
  }
  return {shaders, called, costs};
}

/// A closest-hit call at six cycles an instruction, or with a latency of its own.
inline OneCall hit(double issue, const std::string& origin, double latency = 0,
                   const std::string& latency_origin = "") {
  constexpr double kCycles = 6;
  return {.cost = {.issue = issue,
                   .latency = latency_origin.empty() ? issue * kCycles : latency,
                   .origin = origin,
                   .latency_origin = latency_origin}};
}

}  // namespace rayreplay::test
