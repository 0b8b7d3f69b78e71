// Is break-even where algebra says it is?
#include "sim/comparison/break_even.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>

#include "base/split_mix.hpp"
#include "sim/machine/timing.hpp"

namespace rayreplay::test {
namespace {

using experiment::BreakEvenKind;
using experiment::CostCurves;

TEST(BreakEven, LinesCrossWhereTheyCross) {
  CostCurves curves;
  curves.plain = [](double x) { return 100 + 2 * x; };
  curves.model = [](double x) { return 150 + x; };
  curves.cost_now = 10;
  const experiment::BreakEvenSolution above = solve_break_even(curves);
  EXPECT_EQ(above.result.kind, BreakEvenKind::Above);
  EXPECT_NEAR(above.result.instructions, 50, 0.06);
  EXPECT_NEAR(above.result.hit_cost, 60, 0.06);
  EXPECT_LE(above.result.within, 1e-3);
  EXPECT_DOUBLE_EQ(above.curve.front().instructions, 0);
  EXPECT_DOUBLE_EQ(above.curve.back().instructions, experiment::kMaxHitInstructions);
  EXPECT_NEAR(above.curve.back().speed_up, 2, 1e-3);
  std::swap(curves.plain, curves.model);
  const experiment::BreakEvenSolution below = solve_break_even(curves);
  EXPECT_EQ(below.result.kind, BreakEvenKind::Below);
  EXPECT_NEAR(below.result.instructions, 50, 0.06);
}

TEST(BreakEven, MayLieBelowWhatACallCostsNow) {
  CostCurves curves;
  curves.plain = [](double x) { return 1000 + 3 * x; };
  curves.model = [](double x) { return 940 + x; };
  curves.cost_now = 300;
  curves.cheaper = 297;
  const experiment::BreakEvenSolution found = solve_break_even(curves);
  EXPECT_EQ(found.result.kind, BreakEvenKind::Above);
  EXPECT_NEAR(found.result.instructions, -30, 0.3);
  EXPECT_NEAR(found.result.hit_cost, 270, 0.3);
  EXPECT_DOUBLE_EQ(found.curve.front().instructions, -297);
}

TEST(BreakEven, CurvesThatDoNotCrossHaveNone) {
  CostCurves curves;
  curves.plain = [](double x) { return 100 + 2 * x; };
  curves.model = [](double x) { return 90 + x; };
  EXPECT_EQ(solve_break_even(curves).result.kind, BreakEvenKind::Always);
  curves.model = [](double x) { return 110 + 2 * x; };
  EXPECT_EQ(solve_break_even(curves).result.kind, BreakEvenKind::Never);
  curves.model = curves.plain;
  EXPECT_EQ(solve_break_even(curves).result.kind, BreakEvenKind::Same);
}

TEST(BreakEven, TheFirstOfSeveralIsFound) {
  CostCurves curves;
  curves.plain = [](double) { return 1.0; };
  // Faster between 30 and 3000 alone.
  curves.model = [](double x) { return std::abs(std::log10(std::max(x, 1e-3) / 300)) < 1 ? 0.5 : 2.0; };
  const experiment::BreakEvenSolution found = solve_break_even(curves);
  EXPECT_EQ(found.result.kind, BreakEvenKind::Several);
  EXPECT_NEAR(found.result.instructions, 30, 0.1);
}

TEST(BreakEven, AFewRunsAreEnough) {
  int runs = 0;
  CostCurves curves;
  curves.parallel = false;
  curves.plain = [](double x) { return 500 + 2.5 * x; };
  curves.model = [&runs](double x) {
    ++runs;
    return 900 + x + 10 * std::sqrt(x + 1);
  };
  EXPECT_EQ(solve_break_even(curves).result.kind, BreakEvenKind::Above);
  EXPECT_LE(runs, 13 + 12);
}

TEST(BreakEven, OfNoisyCurvesIsAnIntervalOutsideOfWhichNothingChanges) {
  // A speed-up of 1 at a cost of 2000, ±5 % from cost to cost, as a hash of the cost.
  const auto speed_up = [](double x) {
    const std::uint64_t random = split_mix(3, static_cast<std::uint64_t>(std::llround((x + 250) * 16)));
    return std::pow((250 + x) / 2000, 0.25) * (0.95 + 0.1 * std::ldexp(static_cast<double>(random >> 11U), -53));
  };
  std::atomic<int> runs = 0;
  CostCurves curves;
  curves.plain = [&](double) { return 1e6; };
  curves.model = [&](double x) {
    ++runs;
    return 1e6 / speed_up(x);
  };
  curves.cost_now = 250;
  curves.cheaper = 200;
  curves.steps_below = 2;
  curves.per_decade = 1;
  curves.samples = 7;
  const experiment::BreakEvenSolution found = solve_break_even(curves);
  const experiment::BreakEven& result = found.result;
  EXPECT_LE(runs, 2 + 1 + 7 + 2 * 7);
  ASSERT_EQ(result.kind, BreakEvenKind::Above);
  EXPECT_TRUE(result.sampled);
  EXPECT_GT(result.scatter, 0.01);
  EXPECT_LT(result.scatter, 0.1);
  // Costs nobody sampled: below and above, nearly all have it one way, and in between both ways.
  EXPECT_LT(result.from.speed_up, 1);
  EXPECT_GT(result.to.speed_up, 1);
  std::set<bool> between;
  int beyond = 0, wrong = 0;
  for (double x = 10; x < 1e6; x *= 1.001) {
    const bool pays = speed_up(x) > 1;
    if (x > result.from.instructions && x < result.to.instructions) {
      between.insert(pays);
    } else {
      ++beyond;
      wrong += pays == (x >= result.to.instructions) ? 0 : 1;
    }
  }
  EXPECT_EQ(between.size(), 2U);
  EXPECT_LE(wrong, beyond / 100);
  EXPECT_GT(result.instructions, result.from.instructions);
  EXPECT_LT(result.instructions, result.to.instructions);
  EXPECT_THAT(to_sentence(result, 250), testing::StartsWith("begins to pay somewhere between "));
  EXPECT_TRUE(std::is_sorted(found.curve.begin(), found.curve.end(),
                             [](const auto& a, const auto& b) { return a.instructions < b.instructions; }));
}

TEST(BreakEven, OfSampledCurvesWithoutNoiseIsNarrow) {
  CostCurves curves;
  curves.plain = [](double x) { return 500 + 2 * x; };
  curves.model = [](double x) { return 3000 + x; };
  curves.cost_now = 250;
  curves.per_decade = 1;
  curves.samples = 7;
  const experiment::BreakEven found = solve_break_even(curves).result;
  EXPECT_EQ(found.kind, BreakEvenKind::Above);
  EXPECT_LT(found.from.instructions, 2500);
  EXPECT_GT(found.to.instructions, 2500);
  EXPECT_LT(found.within, 0.25);
}

TEST(BreakEven, AJumpOverOneIsSaid) {
  CostCurves curves;
  curves.plain = [](double) { return 100.0; };
  curves.model = [](double x) { return x < 70 ? 110.0 : 90.0; };
  curves.cost_now = 10;
  const experiment::BreakEven found = solve_break_even(curves).result;
  EXPECT_NEAR(found.hit_cost, 80, 0.1);
  EXPECT_EQ(
      to_sentence(found, 10),
      "pays when a closest-hit call costs more than 80 instructions (now 10); the speed-up jumps there from 0.909 "
      "to 1.111");
}

/// One SM that runs one warp at a time: what jobs take alone adds up.
TEST(BreakEven, OfSchedulesIsWhereTheirJobsSumToTheSame) {
  machine::Machine machine;
  machine.sms = 1;
  // Plain: two warps of 200 cycles, each with two closest-hit warp events. The model: two warps of 100 cycles without
  // any, then two with one each, that cost 60 cycles more for having been formed.
  const auto schedule = [](std::size_t rounds) {
    scheduler::SegmentSchedule result;
    result.warp_size = 1;
    for (std::uint32_t i = 0; i < 2 * rounds; ++i) {
      result.segment_at.push_back(i);
      result.moved.push_back(0);
    }
    for (std::size_t i = 0; i <= rounds; ++i) {
      result.round_begin.push_back(2 * i);
    }
    result.unit_begin = {0, rounds};
    result.unit_sm = {scheduler::kAnySm};
    return result;
  };
  const scheduler::SegmentSchedule plain = schedule(1), model = schedule(2);
  machine::Workload plain_work, model_work;
  machine::Job job;
  job.shading = 200;
  plain_work.jobs = {job, job};
  plain_work.hits = {2, 2};
  plain_work.lanes = {1, 1};
  job.shading = 100;
  model_work.jobs = {job, job, job, job};
  model_work.hits = {0, 0, 1, 1};
  model_work.lanes = {1, 1, 1, 1};
  scheduler::Charges charges;
  charges.cycles_per_warp = 60;
  CostCurves curves;
  curves.plain = [&](double x) { return machine::time_schedule(plain, plain_work, machine, 1, {}, {x, 6}, {}).cycles; };
  curves.model = [&](double x) {
    return machine::time_schedule(model, model_work, machine, 1, charges, {x, 6}, {}).cycles;
  };
  curves.cost_now = 5;
  EXPECT_DOUBLE_EQ(curves.plain(0), 400);
  EXPECT_DOUBLE_EQ(curves.model(0), 520);
  // 400 + 24 x = 520 + 12 x
  const experiment::BreakEvenSolution found = solve_break_even(curves);
  EXPECT_EQ(found.result.kind, BreakEvenKind::Above);
  EXPECT_NEAR(found.result.instructions, 10, 0.015);
  EXPECT_NEAR(found.result.hit_cost, 15, 0.015);
  EXPECT_EQ(to_sentence(found.result, 5), "pays when a closest-hit call costs more than 15 instructions (now 5)");
}

}  // namespace
}  // namespace rayreplay::test
