// What warps of segments need: against a replay of each warp alone, and steps of rays against one traversal of all.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "sim/machine/timing.hpp"
#include "tests/machine/slow_job.hpp"
#include "tests/support/random_trace.hpp"
#include "traversal/observed.hpp"

namespace rayreplay::test {
namespace {

using scheduler::kNoSegment;

/// All segments in a random order, in warps with holes. Waits for nothing: not a schedule to be timed.
scheduler::SegmentSchedule shuffled(const scheduler::Segments& segments, std::uint32_t warp_size, Random& random) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t segment = 0; segment < segments.size(); ++segment) {
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(random.below(order.size() + 1)), segment);
    if (random.one_in(5)) {
      order.push_back(kNoSegment);
    }
  }
  order.resize((order.size() + warp_size - 1) / warp_size * warp_size, kNoSegment);
  scheduler::SegmentSchedule schedule;
  schedule.warp_size = warp_size;
  schedule.segment_at.assign(order.begin(), order.end());
  schedule.moved.assign(order.size() / warp_size, 0);
  return schedule;
}

TEST(Workload, IsThatOfEachWarpAlone) {
  std::uint64_t rays_in_a_row = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const trace::Trace trace = random_trace({.seed = seed, .size = {16, 4, 1}, .rays_per_thread = 6, .capture = true});
    const trace::Launch& launch = trace.launches[0];
    const auto at = static_cast<scheduler::CutAt>(random.below(3));
    const scheduler::Segments segments = scheduler::cut_paths(launch, {.at = at});
    const scheduler::SegmentSchedule schedule = shuffled(segments, 1U << random.below(6), random);
    machine::Machine machine;
    machine.l1_latency_cycles = 1 + static_cast<std::uint32_t>(seed % 3);
    machine.rt_test_latency_cycles = 1.25;
    machine.software_traversal = seed % 4 == 0;
    machine.rt_steps_per_cycle = 0.125;
    machine::CostOptions options;
    options.steps_per_ray = 17.5;
    for (std::size_t shader = 0; shader < trace.shaders.size(); ++shader) {
      options.hand.push_back({std::to_string(shader), 0.1 * random.below(1000), 100 + 0.3 * random.below(1000)});
    }
    for (std::size_t ray = 0; seed % 3 != 0 && ray < launch.data.rays.size(); ++ray) {
      options.ray_steps.push_back(random.below(1000));
    }
    const machine::Costs costs = make_costs(trace, launch, options);
    const machine::Workload workload =
        make_workload(launch, trace.shaders, segments, schedule, machine, costs, simt::Policy::StageMajority);
    ASSERT_EQ(workload.jobs.size(), schedule.warps());
    for (std::size_t warp = 0; warp < schedule.warps(); ++warp) {
      const auto begin = schedule.segment_at.begin() + static_cast<std::ptrdiff_t>(warp * schedule.warp_size);
      const std::vector<std::uint32_t> lanes(begin, begin + schedule.warp_size);
      std::uint32_t hits = 0;
      const machine::Job slow = slow_job(launch, trace.shaders, segments, machine, costs, lanes, hits);
      const machine::Job& job = workload.jobs[warp];
      EXPECT_EQ(job.issue, slow.issue);
      EXPECT_EQ(job.shading, slow.shading);
      EXPECT_EQ(job.visits, slow.visits);
      EXPECT_DOUBLE_EQ(job.traversal, slow.traversal);
      EXPECT_EQ(job.reorder, 0);
      EXPECT_EQ(job.bytes, 0);
      EXPECT_EQ(workload.hits[warp], hits);
      EXPECT_EQ(workload.lanes[warp],
                static_cast<std::uint32_t>(
                    std::count_if(lanes.begin(), lanes.end(), [](std::uint32_t s) { return s != kNoSegment; })));
      rays_in_a_row += job.traversal > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(rays_in_a_row, 1000U);
}

TEST(RaySteps, AreThoseOfOneTraversalOfAllRays) {
  for (const char* file : {"one-weekend", "bunny"}) {
    const trace::Trace trace = trace::load(std::string(RAYREPLAY_SOURCE_DIR "/tests/data/h200/") + file + ".rrt");
    const trace::Launch& launch = trace.launches[0];
    const bvh::Bvh bvh = bvh::build_bvh(trace.scene, launch.tlas, file);
    const std::vector<std::uint32_t> steps = machine::count_ray_steps(launch, bvh);
    const traversal::Observed observed = traversal::observe(launch, 0, launch.data.threads());
    const traversal::ObservedShaders shaders(observed);
    const auto traced =
        traversal::Traversals::create("near-first").model->trace(bvh, observed.rays, {.shaders = &shaders});
    ASSERT_EQ(steps.size(), launch.data.rays.size());
    ASSERT_EQ(traced.counters.size(), steps.size());
    for (std::size_t ray = 0; ray < steps.size(); ++ray) {
      ASSERT_EQ(steps[ray], traced.counters[ray].nodes + traced.counters[ray].leaves) << ray;
    }
    EXPECT_GT(*std::max_element(steps.begin(), steps.end()), 2U);
  }
}

}  // namespace
}  // namespace rayreplay::test
