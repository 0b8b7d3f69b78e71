// schedule_rounds and form_warps against the slow, obvious ones, on random launches and a capture.
#include <gtest/gtest.h>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

#include "capture/trace/reader.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/regrouping/reorder_key.hpp"
#include "tests/regrouping/random_schedules.hpp"
#include "tests/regrouping/reference_schedule.hpp"

namespace rayreplay {
namespace {

using scheduler::Regrouping;
using scheduler::Scope;
using scheduler::SegmentSchedule;
using test::describe;
using test::random_keys;
using test::regroupings;
using Shape = test::ScheduleShape;
using Keys = trace::Column<std::uint64_t>;

void compare_all(const scheduler::PlanContext& plan, const Keys& keys) {
  for (const Regrouping& regrouping : regroupings()) {
    const SegmentSchedule found = schedule_rounds(plan, keys, regrouping);
    ASSERT_NO_THROW(check(found, plan.segments)) << describe(regrouping);
    const SegmentSchedule expected = test::flatten(test::reference_schedule(plan, keys, regrouping),
                                                   plan.order.warp_size, regrouping.scope == Scope::Launch);
    test::expect_same_rounds(found, expected, describe(regrouping));
  }
}

class ScheduleTwin : public testing::TestWithParam<Shape> {};

TEST_P(ScheduleTwin, MakesTheSameSchedule) {
  const Shape shape = GetParam();
  std::mt19937_64 random(shape.warp_size * 1000 + shape.threads + shape.keys);
  test::Plan plan = test::random_plan(shape, 6, random);
  for (const scheduler::CutAt at : {scheduler::CutAt::PendingCall, scheduler::CutAt::EveryCall}) {
    if (at == scheduler::CutAt::EveryCall && shape.threads > 1000) {
      break;  // the twin is slow
    }
    plan.cut({.at = at});
    compare_all(plan.context(), random_keys(plan.segments().size(), shape.keys, random));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ScheduleTwin,
                         testing::Values(Shape{1, 60, 4}, Shape{4, 8, 2}, Shape{4, 200, 3}, Shape{8, 333, 7},
                                         Shape{13, 300, 5}, Shape{32, 1, 3}, Shape{32, 900, 1}, Shape{32, 900, 4},
                                         Shape{32, 900, 100'000}, Shape{64, 700, 4}, Shape{64, 700, 1000},
                                         Shape{32, 1500, 250}, Shape{32, 1500, 300}, Shape{32, 8000, 6}),
                         test::shape_name);

class Captured : public testing::TestWithParam<const char*> {};

TEST_P(Captured, MakesTheSameSchedule) {
  const trace::Trace trace = trace::load(std::string(RAYREPLAY_SOURCE_DIR "/tests/data/h200/") + GetParam() + ".rrt");
  const auto order = scheduler::LaunchOrders::create("captured").model->assign(trace.launches.at(0), 32);
  test::Plan plan(trace, order);
  plan.cut({.at = scheduler::CutAt::PendingCall});
  plan.machine.sms = 132;  // the device's
  const Regrouping by_sm{.scope = Scope::Sm};
  const Keys none(plan.segments().size(), 0);
  const SegmentSchedule as_captured = schedule_rounds(plan.context(), none, by_sm);
  EXPECT_EQ(as_captured.sm_source, scheduler::SmSource::Captured);
  test::expect_same_rounds(as_captured, test::flatten(test::reference_schedule(plan.context(), none, by_sm), 32, false),
                           "captured");
  plan.machine.sms = 24;  // fewer: its SMs are not used
  EXPECT_EQ(schedule_rounds(plan.context(), none, by_sm).sm_source, scheduler::SmSource::StartRank);
  trace::Trace on_one = trace;  // as CPUs report it: says nothing about SMs
  trace::Column<std::uint16_t>& sms = on_one.launches.at(0).groups.sm;
  std::fill(sms.begin(), sms.end(), std::uint16_t{0});
  test::Plan of_one(on_one, order);
  of_one.cut({.at = scheduler::CutAt::PendingCall});
  of_one.machine.sms = 132;
  const SegmentSchedule by_start = schedule_rounds(of_one.context(), none, by_sm);
  EXPECT_EQ(by_start.sm_source, scheduler::SmSource::StartRank);
  test::expect_same_rounds(by_start, test::flatten(test::reference_schedule(of_one.context(), none, by_sm), 32, false),
                           "one SM");
  const Keys keys = scheduler::reorder_keys(plan.context(), {.spatial = scheduler::SpatialKey::Hit, .spatial_bits = 3});
  for (const Scope scope : {Scope::Pool, Scope::Sm, Scope::Launch}) {
    const Regrouping regrouping{.scope = scope, .pool_warps = 16};
    const SegmentSchedule expected =
        test::flatten(test::reference_schedule(plan.context(), keys, regrouping), 32, scope == Scope::Launch);
    test::expect_same_rounds(schedule_rounds(plan.context(), keys, regrouping), expected, describe(regrouping));
  }
}

INSTANTIATE_TEST_SUITE_P(H200, Captured, testing::Values("one-weekend", "one-weekend-ser", "teapot-alpha"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Schedule, DoesNotDependOnTheWorkers) {
  std::mt19937_64 random(11);
  trace::Trace trace;
  trace.shaders = test::shaders_of_all_stages(11);
  trace.launches.push_back(test::RandomLaunch(11, 12).make(30'000, 5));
  test::Plan plan(trace, test::shuffled_assignment(30'000, 32, random));
  plan.machine.sms = 7;
  plan.cut({.at = scheduler::CutAt::PendingCall});
  for (const std::uint64_t distinct : {3U, 1000U}) {
    const Keys keys = random_keys(plan.segments().size(), distinct, random);
    for (const Scope scope : {Scope::Warp, Scope::Pool, Scope::Sm, Scope::Launch}) {
      const Regrouping regrouping{.scope = scope, .pool_warps = 4};
      const auto run = [&](int workers) {
        const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, 8);
        oneapi::tbb::task_arena arena(workers);
        return arena.execute([&] { return schedule_rounds(plan.context(), keys, regrouping); });
      };
      const SegmentSchedule one = run(1);
      test::expect_same_rounds(run(2), one, describe(regrouping));
      test::expect_same_rounds(run(7), one, describe(regrouping));
    }
  }
}

TEST(FormWarps, MakesTheSameWarps) {
  std::mt19937_64 random(21);
  for (const std::uint32_t warp_size : {1U, 4U, 8U, 32U, 64U}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      // Threads of some warps that wait, in order of their places; warps are numbered with gaps.
      std::vector<scheduler::Arrival> waiting;
      std::vector<test::ReferenceThread> threads;
      std::uint32_t segment = 0;
      for (std::uint32_t warp = 3; warp < 3 + random() % 30; warp += 1 + static_cast<std::uint32_t>(random() % 3)) {
        for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
          segment += 1 + static_cast<std::uint32_t>(random() % 3);
          if (random() % 3 != 0) {
            waiting.push_back({segment, warp, static_cast<std::uint8_t>(lane)});
            threads.push_back({segment, warp, lane});
          }
        }
      }
      const Keys keys = random_keys(segment + std::size_t{1}, 1 + random() % 6, random);
      for (const Regrouping& regrouping : regroupings()) {
        std::vector<scheduler::FormedWarp> found;
        form_warps(waiting, keys, warp_size, regrouping, found);
        const test::ReferenceRound expected = test::reference_warps(threads, keys, warp_size, regrouping);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t warp = 0; warp < found.size(); ++warp) {
          EXPECT_EQ(found[warp].moved, expected[warp].moved);
          for (std::uint32_t lane = 0; lane < scheduler::kMaxWarpSize; ++lane) {
            const auto at = expected[warp].segment_of_lane.find(lane);
            const std::uint32_t stands =
                at == expected[warp].segment_of_lane.end() ? scheduler::kNoSegment : at->second;
            EXPECT_EQ(found[warp].segment_at.at(lane), stands);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace rayreplay
