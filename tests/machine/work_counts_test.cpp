// Counts of warp events give the workload that a new replay gives, for any costs and machine.
#include "sim/machine/work_counts.hpp"

#include <gtest/gtest.h>

#include "tests/machine/plain_schedule.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {
namespace {

TEST(WorkCounts, GiveTheWorkloadOfAReplay) {
  std::size_t most_classes = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const trace::Trace trace = random_trace({.seed = seed, .size = {16, 8, 1}, .rays_per_thread = 6, .capture = true});
    const trace::Launch& launch = trace.launches[0];
    const scheduler::Segments segments = scheduler::cut_paths(launch, {.at = scheduler::CutAt::PendingCall});
    const scheduler::SegmentSchedule schedule = schedule_in_order(segments, 8);
    machine::CostOptions options;
    for (std::size_t ray = 0; seed % 2 == 0 && ray < launch.data.rays.size(); ++ray) {
      options.ray_steps.push_back(random.below(1000));
    }
    machine::Costs costs = make_costs(trace, launch, options);
    const machine::CallClasses classes = classes_of(launch, trace.shaders.size());
    most_classes = std::max(most_classes, classes.calls.size());
    const machine::WorkCounts counts(launch, trace.shaders, segments, schedule, classes, costs,
                                     simt::Policy::StageMajority);
    for (int other = 0; other < 3; ++other) {
      for (machine::CallCost& call : costs.calls) {
        call.issue = 0.1 * random.below(5000);
        call.latency = call.issue + 0.3 * random.below(5000);
      }
      costs.steps_per_ray = 0.5 + random.below(50);
      machine::Machine machine;
      machine.l1_latency_cycles = 1;
      machine.rt_test_latency_cycles = 0.25 + other;
      machine.software_traversal = other == 1;
      const machine::Workload slow =
          make_workload(launch, trace.shaders, segments, schedule, machine, costs, simt::Policy::StageMajority);
      const machine::Workload fast = counts.workload(costs.calls, costs.steps_per_ray, machine);
      ASSERT_EQ(fast.jobs.size(), slow.jobs.size());
      EXPECT_EQ(fast.hits, slow.hits);
      EXPECT_EQ(fast.lanes, slow.lanes);
      for (std::size_t warp = 0; warp < slow.jobs.size(); ++warp) {
        EXPECT_EQ(fast.jobs[warp].issue, slow.jobs[warp].issue);
        EXPECT_EQ(fast.jobs[warp].shading, slow.jobs[warp].shading);
        EXPECT_EQ(fast.jobs[warp].visits, slow.jobs[warp].visits);
        EXPECT_EQ(fast.jobs[warp].traversal, slow.jobs[warp].traversal);
      }
    }
  }
  EXPECT_GT(most_classes, machine::kClassesAtOnce) << "more than one replay";
}

}  // namespace
}  // namespace rayreplay::test
