// The obvious twin of job making: each warp replayed alone, rays counted from the thread's start.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/machine/timing.hpp"

namespace rayreplay::test {

/// What one warp of segments needs, from a replay of it alone and by counting rays from the thread's start.
inline machine::Job slow_job(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                             const scheduler::Segments& segments, const machine::Machine& machine,
                             const machine::Costs& costs, const std::vector<std::uint32_t>& lanes,
                             std::uint32_t& hits) {
  simt::SegmentReplayOptions options;
  for (const int which : {0, 1, 2}) {
    simt::CallWeights table;
    for (std::size_t call = 0; call < costs.calls.size(); ++call) {
      const auto kind = static_cast<trace::EventKind>(call % trace::kEventKinds);
      const double cost = which == 0 ? costs.calls[call].issue : costs.calls[call].latency;
      table.push_back(!trace::is_warp_event(kind) ? 0U
                      : which == 2                ? (kind == trace::EventKind::ClosestHit ? 1U : 0U)
                                                  : static_cast<std::uint32_t>(std::llround(cost * 16)));
    }
    options.weights.push_back(table);
  }
  const auto weights =
      simt::replay_segments(launch, shaders, segments, lanes, static_cast<std::uint32_t>(lanes.size()), options)
          .weights;
  machine::Job job;
  job.issue = static_cast<double>(weights[0]) / 16;
  job.shading = static_cast<double>(weights[1]) / 16;
  hits = static_cast<std::uint32_t>(weights[2]);
  std::vector<double> longest;
  for (const std::uint32_t segment : lanes) {
    if (segment == scheduler::kNoSegment) {
      continue;
    }
    const auto& first = segments.first;
    const auto thread =
        static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), segment) - first.begin() - 1);
    const trace::ThreadData& data = launch.data;
    std::uint64_t ray = data.ray_offset[thread];
    std::size_t in_segment = 0;
    for (std::uint64_t row = data.event_offset[thread]; row < segments.event_offset[segment + 1]; ++row) {
      if (trace::begins_ray(data.events.kind[row])) {
        if (row >= segments.event_offset[segment]) {
          const double steps = costs.ray_steps.empty() ? costs.steps_per_ray : costs.ray_steps[ray];
          job.visits += steps;
          longest.resize(std::max(longest.size(), in_segment + 1));
          longest[in_segment] = std::max(longest[in_segment], steps);
          ++in_segment;
        }
        ++ray;
      }
    }
  }
  double chain = 0;
  for (const double steps : longest) {
    chain += steps;
  }
  job.traversal = chain * (machine.l1_latency_cycles + machine.rt_test_latency_cycles);  // a load, and its tests
  if (machine.software_traversal) {
    job.issue += chain * static_cast<double>(lanes.size()) * (machine.issue_per_cycle / machine.rt_steps_per_cycle);
    job.visits = 0;
  }
  return job;
}

}  // namespace rayreplay::test
