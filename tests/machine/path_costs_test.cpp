// Costs of single calls from their paths: exact answers, the definition on random paths, precedence of sources.
#include "sim/machine/path_costs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "sim/machine/costs.hpp"
#include "sim/machine/timing.hpp"
#include "sim/machine/work_counts.hpp"
#include "sim/simt/reference/replay_reference.hpp"
#include "tests/machine/path_traces.hpp"
#include "tests/machine/plain_schedule.hpp"
#include "tests/regrouping/support.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::machine::by_path {
namespace {

using trace::EventKind;
using trace::ShaderStage;

const CallCost& call_of(const Costs& costs, std::size_t shader, EventKind kind) {
  return costs.calls.at(shader * trace::kEventKinds + static_cast<std::size_t>(kind));
}

/// The launch's threads in one warp.
Job only_job(const trace::Trace& trace, const Costs& costs) {
  const trace::Launch& launch = trace.launches.at(0);
  const scheduler::Segments segments = scheduler::cut_paths(launch, {});
  scheduler::SegmentSchedule schedule;
  schedule.warp_size = 2;
  schedule.segment_at = {0, 1};
  schedule.moved = {0};
  return make_workload(launch, trace.shaders, segments, schedule, {}, costs, simt::Policy::StageMajority).jobs.at(0);
}

TEST(PathCosts, AWarpExecutesEachBlockAsOftenAsTheLaneThatDoesSoMost) {
  const trace::Trace trace = two_threads({3, 4}, {1, 2});
  const Costs costs = make_costs(trace, trace.launches[0], {.cycles_per_instruction = 2});
  const CallCost& hit = call_of(costs, 1, EventKind::ClosestHit);
  EXPECT_DOUBLE_EQ(hit.issue, (12 + 11) / 2.);
  EXPECT_EQ(hit.origin, "paths");
  EXPECT_EQ(origin_of_source(hit.origin), Origin::Captured);
  EXPECT_EQ(call_of(costs, 2, EventKind::Miss).origin, "default");
  EXPECT_EQ(call_of(costs, 1, EventKind::Begin).origin, "default");
  // Thread 0 has two trace calls of 12 / 2 issue slots, thread 1 one of 7.
  for (const EventKind kind : {EventKind::Begin, EventKind::OcclusionBegin}) {
    EXPECT_DOUBLE_EQ(call_of(costs, 0, kind).issue, (12 + 7) / 3.);
  }
  // Both begin: block 0 once (thread 1), 1 half (thread 0), 3 once. Both hit: 0, 1, 2, 3 and the called function. Then
  // thread 0 alone: its second trace call, and the miss.
  const double issue = (6 + 5 / 2. + 1) + (6 + 5 + 2 + 1 + 2) + 6 + 20;
  const Job job = only_job(trace, costs);
  EXPECT_DOUBLE_EQ(job.issue, issue);
  EXPECT_DOUBLE_EQ(job.shading, 2 * issue);
}

TEST(PathCosts, OfOneWayForAllAreThoseOfCountedBlocks) {
  trace::Trace trace = two_threads({3, 3}, {0, 0});
  const Costs by_path = make_costs(trace, trace.launches[0], {.source = CostSource::Paths});
  for (std::uint32_t block = 0; block < kSlots.size(); ++block) {
    trace.block_counts.pipeline.push_back(0);
    trace.block_counts.shader.push_back(1);
    trace.block_counts.function.push_back(block / 4);
    trace.block_counts.block.push_back(block % 4);
    trace.block_counts.lanes.push_back(std::uint64_t{2} * trace.paths.counts[2 * kSlots.size() + block]);
  }
  const Costs counted = make_costs(trace, trace.launches[0], {.source = CostSource::Blocks});
  EXPECT_EQ(counted.paths, nullptr);
  ASSERT_NE(by_path.paths, nullptr);
  EXPECT_EQ(call_of(counted, 1, EventKind::ClosestHit).origin, "blocks");
  EXPECT_EQ(call_of(by_path, 1, EventKind::ClosestHit).issue, call_of(counted, 1, EventKind::ClosestHit).issue);
  EXPECT_EQ(only_job(trace, by_path).issue, only_job(trace, counted).issue);
  EXPECT_EQ(only_job(trace, by_path).shading, only_job(trace, counted).shading);
}

TEST(PathCosts, OfCallsWithoutPathAreTheMean) {
  const trace::Trace trace = two_threads({0, 4}, {0, 0});
  const Costs costs = make_costs(trace, trace.launches[0], {});
  EXPECT_EQ(call_of(costs, 0, EventKind::Begin).origin, "spirv") << "no thread has a path";
  EXPECT_EQ(call_of(costs, 1, EventKind::ClosestHit).issue, 11);
  const double begin = call_of(costs, 0, EventKind::Begin).issue;
  EXPECT_DOUBLE_EQ(only_job(trace, costs).issue, 11 + 2 * begin + 20);
}

TEST(PathCosts, YieldToThoseByHand) {
  const trace::Trace trace = two_threads({3, 4}, {1, 2});
  const Costs by_hand =
      make_costs(trace, trace.launches[0], {.hand = {{"metal", 100}, {"ray-generation", 10}, {"sky", 1}}});
  EXPECT_EQ(by_hand.paths, nullptr);
  EXPECT_DOUBLE_EQ(only_job(trace, by_hand).issue, 10 + 100 + 10 + 1);
  // A latency by hand leaves the instructions to paths.
  const Costs latency = make_costs(trace, trace.launches[0], {.hand = {{"metal", -1, 500}, {"gen", 10}, {"sky", 1}}});
  ASSERT_NE(latency.paths, nullptr);
  EXPECT_DOUBLE_EQ(only_job(trace, latency).issue, 10 + 16 + 10 + 1);
  EXPECT_DOUBLE_EQ(only_job(trace, latency).shading, 60 + 500 + 60 + 6);
}

TEST(PathCosts, ScaleWithTheCostOfTheirCalls) {
  const trace::Trace trace = two_threads({3, 4}, {1, 2});
  Costs costs = make_costs(trace, trace.launches[0], {.hand = {{"gen", 10}, {"sky", 1}}});
  CallCost& hit = costs.calls.at(trace::kEventKinds + static_cast<std::size_t>(EventKind::ClosestHit));
  hit.issue *= 3;
  hit.latency *= 5;
  EXPECT_DOUBLE_EQ(only_job(trace, costs).issue, 10 + 3 * 16 + 10 + 1);
  EXPECT_DOUBLE_EQ(only_job(trace, costs).shading, 60 + 5 * 6 * 16 + 60 + 6);
}

TEST(PathCosts, MustBeThereIfAskedFor) {
  const trace::Trace without = two_threads({0, 0}, {0, 0});
  const std::string message = test::message_of(
      ErrorKind::Missing, [&] { return make_costs(without, without.launches[0], {.source = CostSource::Paths}); });
  EXPECT_THAT(message, testing::HasSubstr("--profile paths"));
  const trace::Trace trace = two_threads({3, 4}, {1, 2});
  for (const CostSource source : {CostSource::Default, CostSource::Spirv}) {
    EXPECT_EQ(make_costs(trace, trace.launches[0], {.source = source}).paths, nullptr);
  }
}

/// The definition, warp by warp.
class SlowCosts : public SlowPathCosts {
 public:
  using SlowPathCosts::SlowPathCosts;

  /// Issue slots of a warp, each event rounded to sixteenths.
  [[nodiscard]] double issue(const scheduler::Segments& segments, const std::vector<std::uint32_t>& lanes) const {
    const trace::Launch pieces = test::segments_as_threads(launch_, segments);
    scheduler::WarpAssignment one;
    one.warp_size = static_cast<std::uint32_t>(lanes.size());
    one.thread_at.assign(lanes.begin(), lanes.end());
    one.start_rank.push_back(0);
    std::vector<std::uint64_t> taken(lanes.size());
    double sum = 0;
    for (const simt::WarpEvent& event :
         simt::replay_warp_reference(pieces, trace_.shaders, one, 0, simt::Policy::StageMajority)) {
      const std::size_t call = event.shader * trace::kEventKinds + static_cast<std::size_t>(event.kind);
      std::vector<std::uint64_t> rows;
      for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        if ((event.mask >> lane & 1U) != 0) {
          rows.push_back(warp_event(segments, lanes[lane], taken[lane]++));
        }
      }
      const double cost = costs_.calls[call].by_path() ? group(event.shader, call, rows) : costs_.calls[call].issue;
      sum += std::round(16 * cost) / 16;
    }
    return sum;
  }

 private:
  /// Row of the segment's n-th warp event.
  [[nodiscard]] std::uint64_t warp_event(const scheduler::Segments& segments, std::uint32_t segment,
                                         std::uint64_t n) const {
    std::uint64_t row = segments.event_offset[segment];
    while (!trace::is_warp_event(launch_.data.events.kind[row]) || n-- > 0) {
      ++row;
    }
    return row;
  }
};

TEST(PathCosts, AreThoseOfTheDefinition) {
  std::size_t by_path = 0;
  double unlike = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    const trace::Trace trace = random_paths(seed, random);
    const trace::Launch& launch = trace.launches[0];
    const Costs costs = make_costs(trace, launch, {.cycles_per_instruction = 3});
    if (costs.paths == nullptr) {
      continue;
    }
    ++by_path;
    const SlowCosts slow(trace, costs);
    for (const PathCall& one : costs.paths->calls()) {
      // The mean over the launch's events of the shader with a path.
      const std::size_t shader = one.call / trace::kEventKinds;
      double sum = 0, count = 0;
      for (std::uint64_t row = 0; row < launch.data.events.size(); ++row) {
        const EventKind kind = launch.data.events.kind[row];
        const bool of_generation = trace.shaders[shader].stage == ShaderStage::RayGeneration;
        if (launch.data.events.shader[row] == shader && trace::is_warp_event(kind) &&
            trace::begins_ray(kind) == of_generation && slow.executed(shader, row, 0) >= 0) {
          sum += slow.group(shader, one.call, {row});
          count += 1;
        }
      }
      EXPECT_NEAR(one.mean, sum / count, 1e-9 * one.mean);
      EXPECT_EQ(one.mean, costs.calls[one.call].issue);
    }
    const scheduler::Segments segments =
        scheduler::cut_paths(launch, {.at = static_cast<scheduler::CutAt>(random.below(3))});
    const scheduler::SegmentSchedule schedule = test::schedule_in_order(segments, 8);
    const Workload workload =
        make_workload(launch, trace.shaders, segments, schedule, {}, costs, simt::Policy::StageMajority);
    Costs means = costs;
    means.paths = nullptr;
    const Workload of_means =
        make_workload(launch, trace.shaders, segments, schedule, {}, means, simt::Policy::StageMajority);
    for (std::size_t warp = 0; warp < schedule.warps(); ++warp) {
      const auto begin = schedule.segment_at.begin() + static_cast<std::ptrdiff_t>(8 * warp);
      EXPECT_NEAR(workload.jobs[warp].issue, slow.issue(segments, {begin, begin + 8}), 1. / 16);
      EXPECT_NEAR(workload.jobs[warp].shading, 3 * workload.jobs[warp].issue, 3);
      EXPECT_EQ(workload.hits[warp], of_means.hits[warp]);
      unlike = std::max(unlike, std::abs(workload.jobs[warp].issue - of_means.jobs[warp].issue));
    }
  }
  EXPECT_GT(by_path, 15U);
  EXPECT_GT(unlike, 100) << "means would do";
}

TEST(PathCosts, AreInCountsOfWork) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    const trace::Trace trace = random_paths(seed, random);
    const trace::Launch& launch = trace.launches[0];
    Costs costs = make_costs(trace, launch, {});
    const scheduler::Segments segments = scheduler::cut_paths(launch, {.at = scheduler::CutAt::PendingCall});
    const scheduler::SegmentSchedule schedule = test::schedule_in_order(segments, 16);
    const CallClasses classes = test::classes_of(launch, trace.shaders.size());
    const WorkCounts counts(launch, trace.shaders, segments, schedule, classes, costs, simt::Policy::OldestLane);
    for (int other = 0; other < 3; ++other) {
      const Workload slow =
          make_workload(launch, trace.shaders, segments, schedule, {}, costs, simt::Policy::OldestLane);
      const Workload fast = counts.workload(costs.calls, costs.steps_per_ray, {});
      ASSERT_EQ(fast.jobs.size(), slow.jobs.size());
      EXPECT_EQ(fast.hits, slow.hits);
      for (std::size_t warp = 0; warp < slow.jobs.size(); ++warp) {
        EXPECT_EQ(fast.jobs[warp].issue, slow.jobs[warp].issue);
        EXPECT_EQ(fast.jobs[warp].shading, slow.jobs[warp].shading);
      }
      for (CallCost& call : costs.calls) {
        call.issue = 0.1 * random.below(5000);
        call.latency = call.issue + 0.3 * random.below(5000);
        call.latency_origin = random.one_in(3) ? "hand" : "";
      }
    }
  }
}

// On an SM with room for one warp, warps run one after another: a timed model takes as long as its warps alone.
TEST(PathCosts, AreThoseOfWarpsFormedInTheRun) {
  std::size_t unlike = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    const trace::Trace trace = random_paths(seed, random);
    const trace::Launch& launch = trace.launches[0];
    const Costs costs = make_costs(trace, launch, {});
    const auto created = scheduler::SchedulerModels::create("bindless-dispatch:simd_width=8");
    const scheduler::Segments segments = scheduler::cut_paths(launch, created.model->cut());
    const scheduler::WarpAssignment order = test::linear_assignment(launch.data.threads(), 8);
    Machine machine;
    machine.sms = 1;
    const scheduler::HintSources hints;
    const scheduler::PlanContext context{trace, launch, order, segments, facts(machine, 1), hints};
    const auto run = [&](const Costs& with) {
      return run_timed(context, *created.model, machine, 1, with, simt::Policy::StageMajority, {}, {}, {});
    };
    const TimedRun timed = run(costs);
    const Workload alone =
        make_workload(launch, trace.shaders, segments, timed.schedule, machine, costs, simt::Policy::StageMajority);
    const double cycles = time_schedule(timed.schedule, alone, machine, 1, {}, {}, {}).cycles;
    EXPECT_NEAR(timed.timing.cycles, cycles, 1e-9 * cycles);
    Costs means = costs;
    means.paths = nullptr;
    unlike += std::abs(run(means).timing.cycles - cycles) > 0.01 * cycles ? 1U : 0U;
  }
  EXPECT_GT(unlike, 4U) << "means would do";
}

/// Issue slots of all warps of the launch's threads in order.
double issue_of(const trace::Trace& trace, const Costs& costs, std::uint32_t warp_size) {
  const trace::Launch& launch = trace.launches.at(0);
  const scheduler::Segments segments = scheduler::cut_paths(launch, {});
  scheduler::SegmentSchedule schedule;
  schedule.warp_size = warp_size;
  for (std::uint32_t thread = 0; thread < segments.size(); ++thread) {
    schedule.segment_at.push_back(thread);
  }
  schedule.segment_at.resize((segments.size() + warp_size - 1) / warp_size * warp_size, scheduler::kNoSegment);
  schedule.moved.assign(schedule.segment_at.size() / warp_size, 0);
  double sum = 0;
  for (const Job& job :
       make_workload(launch, trace.shaders, segments, schedule, {}, costs, simt::Policy::StageMajority).jobs) {
    sum += job.issue;
  }
  return sum;
}

TEST(PathCosts, OfACaptureSumToThoseOfItsCalls) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/lavapipe/one-weekend-paths.rrt");
  const trace::Launch& launch = trace.launches.at(0);
  const Costs costs = make_costs(trace, launch, {});
  Costs means = costs;
  means.paths = nullptr;
  double all = 0;
  for (std::size_t row = 0; row < launch.data.events.size(); ++row) {
    if (trace::is_warp_event(launch.data.events.kind[row])) {
      const CallCost& cost = call_of(costs, launch.data.events.shader[row], launch.data.events.kind[row]);
      EXPECT_EQ(cost.origin, "paths");
      all += cost.issue;
    }
  }
  // Lanes alone: the mean of calls is that of their paths, and each sum is rounded to a sixteenth.
  EXPECT_NEAR(issue_of(trace, costs, 1), all, 1e-3 * all);
  EXPECT_NEAR(issue_of(trace, means, 1), all, 1e-3 * all);
  // Lanes together execute at least the share of each, and no more than one after another.
  const double together = issue_of(trace, costs, 32);
  EXPECT_GT(together, all / 32);
  EXPECT_LT(together, all);
  EXPECT_GT(together, 1.05 * issue_of(trace, means, 32)) << "lanes take different paths";
}

}  // namespace
}  // namespace rayreplay::machine::by_path
