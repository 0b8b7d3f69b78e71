// Needs of each warp of a schedule: weights of its warp events, and traversals of its lanes' rays.
#include <algorithm>
#include <array>
#include <cmath>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include "sim/machine/job_maker.hpp"
#include "sim/machine/path_weigher.hpp"
#include "sim/machine/timing.hpp"

namespace rayreplay::machine {
namespace {

constexpr std::size_t kGrain = 1024;

using PathWeighers = oneapi::tbb::enumerable_thread_specific<PathWeigher>;

}  // namespace

std::uint32_t scaled_cost(double cost) {
  return static_cast<std::uint32_t>(std::llround(cost * kCostScale));
}

std::vector<simt::CallWeights> job_weights(const Costs& costs) {
  std::vector<simt::CallWeights> weights(kJobWeights);
  for (simt::CallWeights& table : weights) {
    table.assign(costs.calls.size(), 0);
  }
  for (std::size_t call = 0; call < costs.calls.size(); ++call) {
    const auto kind = static_cast<trace::EventKind>(call % trace::kEventKinds);
    if (trace::is_warp_event(kind)) {
      const bool by_path = costs.paths != nullptr && costs.paths->place(call) != PathCosts::kNone;
      const CallCost& cost = costs.calls[call];
      weights[kIssueWeight][call] = by_path ? 0 : scaled_cost(cost.issue);
      weights[kLatencyWeight][call] = by_path && !cost.own_latency() ? 0 : scaled_cost(cost.latency);
      weights[kHitWeight][call] = kind == trace::EventKind::ClosestHit ? 1 : 0;
    }
  }
  return weights;
}

StepCosts::StepCosts(const Machine& machine, double steps)
    : steps_per_ray(steps),
      step_cycles(visit_latency_cycles(machine)),
      software_slots(machine.software_traversal ? machine.issue_per_cycle / machine.rt_steps_per_cycle : 0) {}

Job make_job(const RaySums& rays, std::size_t lanes, std::uint64_t issue, std::uint64_t latency,
             const StepCosts& steps) {
  Job job;
  job.issue = static_cast<double>(issue) / kCostScale;
  job.shading = static_cast<double>(latency) / kCostScale;
  job.visits = static_cast<double>(rays.all) * steps.steps_per_ray;
  const double chain = static_cast<double>(rays.longest) * steps.steps_per_ray;
  job.traversal = chain * steps.step_cycles;
  if (steps.software_slots > 0) {
    job.issue += chain * static_cast<double>(lanes) * steps.software_slots;
    job.visits = 0;
  }
  return job;
}

JobMaker::JobMaker(const trace::Launch& launch, const scheduler::Segments& segments, const Machine& machine,
                   const Costs& costs)
    : costs_(&costs),
      steps_(machine, costs.ray_steps.empty() ? costs.steps_per_ray : 1),
      first_ray_(segments.size() + 1) {
  const trace::ThreadData& data = launch.data;
  oneapi::tbb::parallel_for(
      oneapi::tbb::blocked_range<std::size_t>(0, data.threads(), kGrain), [&](const auto& threads) {
        for (std::size_t thread = threads.begin(); thread < threads.end(); ++thread) {
          std::uint64_t ray = data.ray_offset[thread];
          for (std::size_t s = segments.first[thread]; s < segments.first[thread + 1]; ++s) {
            first_ray_[s] = ray;
            for (std::uint64_t row = segments.event_offset[s]; row < segments.event_offset[s + 1]; ++row) {
              ray += trace::begins_ray(data.events.kind[row]) ? 1U : 0U;
            }
          }
        }
      });
  first_ray_[segments.size()] = data.rays.size();
}

RaySums JobMaker::rays(std::span<const std::uint32_t> segment_at) const {
  std::uint64_t longest = 0;
  std::uint64_t rays = 0;
  for (const std::uint32_t segment : segment_at) {
    if (segment != scheduler::kNoSegment) {
      const std::uint64_t of_lane = first_ray_[std::size_t{segment} + 1] - first_ray_[segment];
      longest = std::max(longest, of_lane);
      rays += of_lane;
    }
  }
  if (costs_->ray_steps.empty()) {
    return {rays, longest};
  }
  RaySums sums;
  for (std::uint64_t k = 0; k < longest; ++k) {
    std::uint32_t most = 0;
    for (const std::uint32_t segment : segment_at) {
      if (segment != scheduler::kNoSegment && first_ray_[segment] + k < first_ray_[std::size_t{segment} + 1]) {
        const std::uint32_t steps = costs_->ray_steps[first_ray_[segment] + k];
        sums.all += steps;
        most = std::max(most, steps);
      }
    }
    sums.longest += most;
  }
  return sums;
}

Job JobMaker::make(std::span<const std::uint32_t> segment_at, std::span<const std::uint64_t> weights) const {
  return make_job(rays(segment_at), segment_at.size(), weights[kIssueWeight], weights[kLatencyWeight], steps_);
}

Workload make_workload(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                       const scheduler::Segments& segments, const scheduler::SegmentSchedule& schedule,
                       const Machine& machine, const Costs& costs, simt::Policy policy) {
  simt::SegmentReplayOptions options;
  options.policy = policy;
  options.weights = job_weights(costs);
  const std::vector<std::uint64_t> weights =
      simt::replay_segments(launch, shaders, segments, schedule.segment_at, schedule.warp_size, options).weights;
  const JobMaker maker(launch, segments, machine, costs);
  PathWeighers weighers(
      [&] { return PathWeigher(launch, shaders, segments, schedule.warp_size, policy, *costs.paths); });
  Workload workload;
  workload.jobs.resize(schedule.warps());
  workload.hits.resize(schedule.warps());
  workload.lanes.resize(schedule.warps());
  oneapi::tbb::parallel_for(
      oneapi::tbb::blocked_range<std::size_t>(0, schedule.warps(), kGrain), [&](const auto& warps) {
        for (std::size_t warp = warps.begin(); warp < warps.end(); ++warp) {
          const auto lanes = std::span(schedule.segment_at).subspan(warp * schedule.warp_size, schedule.warp_size);
          std::array<std::uint64_t, kJobWeights> of_warp{};
          std::copy_n(weights.begin() + static_cast<std::ptrdiff_t>(warp * kJobWeights), kJobWeights, of_warp.begin());
          if (costs.paths != nullptr) {
            add_paths(*costs.paths, costs.calls, weighers.local().weigh(lanes), of_warp[kIssueWeight],
                      of_warp[kLatencyWeight]);
          }
          workload.jobs[warp] = maker.make(lanes, of_warp);
          workload.hits[warp] = static_cast<std::uint32_t>(of_warp[kHitWeight]);
          workload.lanes[warp] = static_cast<std::uint32_t>(
              lanes.size() - static_cast<std::size_t>(std::count(lanes.begin(), lanes.end(), scheduler::kNoSegment)));
        }
      });
  return workload;
}

}  // namespace rayreplay::machine
