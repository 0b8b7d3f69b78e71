// The hint advisor by paths of calls: hints that separate what a shader does inside come first, and scores are those of
// the time models' costs.
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "capture/trace/reader.hpp"
#include "scheduler-models/launch_order.hpp"
#include "sim/comparison/advise.hpp"
#include "sim/comparison/path_features.hpp"
#include "sim/comparison/path_score.hpp"
#include "sim/machine/timing.hpp"
#include "tests/comparison/branching_trace.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/second_path.hpp"

namespace rayreplay::experiment::advise_paths {
namespace {

using test::branching_on;
using test::kBranches;

trace::Trace by_remainder(std::uint32_t divisor) {
  return branching_on(61, {64, 64, 1}, [divisor](std::uint32_t material) { return material % divisor; });
}

AdviseResult advised(const trace::Trace& trace, const Configuration& configuration = {}, AdviseOptions options = {}) {
  return test::advise_by_hand(trace, resolve(configuration, trace), options);
}

TEST(AdviseByPaths, PutsTheRemainderThatAShaderBranchesOnFirst) {
  for (const std::uint32_t divisor : {4U, 3U, 2U}) {
    const trace::Trace trace = by_remainder(divisor);
    const AdviseResult result = advised(trace);
    ASSERT_FALSE(result.ranking.empty());
    EXPECT_TRUE(result.by_path);
    const Advice& best = result.ranking.front();
    EXPECT_EQ(best.formula, "material % " + std::to_string(divisor));
    // All warps but those at the ends of the classes run one branch; without the hint each runs all. A trace call takes
    // the default 120.
    EXPECT_GT(best.weighted_efficiency, 0.97);
    const machine::Costs costs = machine::make_costs(trace, trace.launches[0], {});
    std::vector<std::uint32_t> ways(divisor);
    std::iota(ways.begin(), ways.end(), 1U);
    EXPECT_NEAR(result.baseline.weighted_efficiency,
                (120 + costs.paths->calls()[0].mean) / (120 + costs.paths->group(0, ways)), 0.002);
    EXPECT_NEAR(result.plain.weighted_efficiency, result.baseline.weighted_efficiency, 1e-12);
    EXPECT_EQ(best.gain, best.weighted_efficiency / result.baseline.weighted_efficiency - 1);
  }
}

TEST(AdviseByPaths, ByCallsAloneAllHintsAreEqual) {
  trace::Trace trace = by_remainder(4);
  trace.paths = {};
  trace.launches[0].data.events.path.clear();
  const AdviseResult result = advised(trace);
  EXPECT_FALSE(result.by_path);
  ASSERT_FALSE(result.ranking.empty());
  for (const Advice& advice : result.ranking) {
    EXPECT_EQ(advice.efficiency, result.baseline.efficiency) << advice.formula;
    EXPECT_EQ(advice.gain, 0) << advice.formula;
  }
}

TEST(AdviseByPaths, CostsByHandDecideAlone) {
  Configuration configuration;
  configuration.costs = {{"closest-hit", 50}};
  const AdviseResult result = advised(by_remainder(4), configuration);
  EXPECT_FALSE(result.by_path);
  for (const Advice& advice : result.ranking) {
    EXPECT_EQ(advice.gain, 0) << advice.formula;
  }
}

TEST(AdviseByPaths, HasNoRemainderWhereFieldsTellNothing) {
  test::Random random(3);
  const trace::Trace trace =
      branching_on(61, {64, 64, 1}, [&random](std::uint32_t) { return random.below(kBranches); });
  for (const Advice& advice : advised(trace).ranking) {
    EXPECT_NE(advice.formula, "material % 4");
    EXPECT_LT(advice.gain, 0.05) << advice.formula;
  }
}

/// Efficiency by the workload of the time models and the mean over calls, lane by lane.
double slow_efficiency(const trace::Trace& trace, const scheduler::Segments& segments,
                       const scheduler::SegmentSchedule& schedule, const machine::Costs& costs) {
  const trace::Launch& launch = trace.launches[0];
  double issued = 0;
  for (const machine::Job& job :
       machine::make_workload(launch, trace.shaders, segments, schedule, {}, costs, simt::Policy::StageMajority).jobs) {
    issued += job.issue;
  }
  // A launch of one lane a warp issues what its lanes execute.
  scheduler::SegmentSchedule alone;
  alone.warp_size = 1;
  alone.segment_at.resize(segments.size());
  std::iota(alone.segment_at.begin(), alone.segment_at.end(), 0U);
  alone.moved.resize(segments.size());
  double of_lanes = 0;
  for (const machine::Job& job :
       machine::make_workload(launch, trace.shaders, segments, alone, {}, costs, simt::Policy::StageMajority).jobs) {
    of_lanes += job.issue;
  }
  return of_lanes / (schedule.warp_size * issued);
}

TEST(AdviseByPaths, ScoresAreThoseOfTheTimeModels) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/lavapipe/one-weekend-paths.rrt");
  const trace::Launch& launch = trace.launches[0];
  AdviseOptions options;
  options.candidates = 30;
  const Resolved chosen = resolve({}, trace);
  const AdviseResult result = test::advise_by_hand(trace, chosen, options);
  ASSERT_TRUE(result.by_path);
  ASSERT_GT(result.ranking.size(), 5U);
  const machine::Costs costs = machine::make_costs(trace, launch, {});
  const auto order = scheduler::LaunchOrders::create(chosen.order).model->assign(launch, chosen.warp_size);
  const auto by_hand = [&](const std::string& spec, const scheduler::HintSources& hints) {
    const auto model = scheduler::SchedulerModels::create(spec).model;
    const scheduler::Segments segments = scheduler::cut_paths(launch, model->cut());
    return slow_efficiency(trace, segments, model->schedule({trace, launch, order, segments, {}, hints}), costs);
  };
  EXPECT_NEAR(result.baseline.weighted_efficiency, by_hand("ser:hint=none", {}), 1e-12);
  EXPECT_NEAR(result.plain.weighted_efficiency, by_hand("plain", {}), 1e-12);
  double last = 1;
  for (const Advice& advice : result.ranking) {
    EXPECT_NEAR(
        advice.weighted_efficiency,
        by_hand("ser:hint=x", {{"x", {scheduler::HintOrigin::Expression, advice.bits, advice.formula, nullptr}}}),
        1e-12)
        << advice.formula;
    EXPECT_LE(advice.weighted_efficiency, last);
    last = advice.weighted_efficiency;
  }
}

TEST(PathScore, OfFourThreadsByHand) {
  trace::Trace trace = branching_on(4, {4, 1, 1}, [](std::uint32_t material) { return material; });
  const trace::Launch& launch = trace.launches[0];
  trace.launches[0].data.events.path = {0, 1, 0, 1, 0, 3, 0, 3};
  const machine::Costs costs = machine::make_costs(trace, launch, {});
  ASSERT_NE(costs.paths, nullptr);
  // A trace call without a path takes the default 120; a call its block, two additions and the branches.
  std::vector<std::uint32_t> way = {1};
  const double first = costs.paths->group(0, way);
  way = {3};
  const double third = costs.paths->group(0, way);
  EXPECT_EQ(third - first, 2);
  way = {1, 3};
  const double both = costs.paths->group(0, way);
  EXPECT_GT(both, first + 40);
  const PathScore score(trace, launch, costs, simt::Policy::StageMajority);
  const scheduler::Segments segments = scheduler::cut_paths(launch, {});
  const auto efficiency = [&](const std::vector<std::uint32_t>& segment_at) {
    simt::SegmentReplayOptions options;
    options.weights = {score.weights()};
    const auto weights = simt::replay_segments(launch, trace.shaders, segments, segment_at, 2, options).weights;
    return score.efficiency(score.issued(segments, segment_at, 2, weights), 2);
  };
  EXPECT_DOUBLE_EQ(efficiency({0, 1, 2, 3}), 1);
  EXPECT_DOUBLE_EQ(efficiency({0, 2, 1, 3}), (4 * 120 + 2 * first + 2 * third) / (2 * (2 * 120 + 2 * both)));
  // A warp of one thread leaves a lane without work.
  EXPECT_DOUBLE_EQ(efficiency({0, 1, 2, scheduler::kNoSegment, 3, scheduler::kNoSegment}),
                   (4 * 120 + 2 * first + 2 * third) / (2 * (3 * 120 + first + 2 * third)));
}

TEST(PathFeatures, TellWhatCountsSay) {
  std::vector<PathValue> sample;
  for (std::uint32_t i = 0; i < 4800; ++i) {
    sample.push_back({5, i % 4 + 1, static_cast<double>(i % 48)});
  }
  EXPECT_NEAR(told_by(sample, 4), std::log(4), 1e-3);
  EXPECT_NEAR(told_by(sample, 2), std::log(2), 1e-3);
  EXPECT_NEAR(told_by(sample, 3), 0, 1e-3);
  EXPECT_NEAR(told_by(sample, 12), std::log(4), 1e-2);
  EXPECT_NEAR(told_by(sample, 0), std::log(4), 3e-2);
  // Paths that the shader alone tells apart do not count: SER sorts by shader first.
  for (PathValue& one : sample) {
    one.shader = one.way;
  }
  EXPECT_NEAR(told_by(sample, 4), 0, 1e-3);
  // Nothing to tell: many classes alone are no information.
  test::Random random(2);
  for (PathValue& one : sample) {
    one = {5, random.below(4) + 1, static_cast<double>(random.below(64))};
  }
  EXPECT_NEAR(told_by(sample, 0), 0, 1e-2);
}

}  // namespace
}  // namespace rayreplay::experiment::advise_paths
