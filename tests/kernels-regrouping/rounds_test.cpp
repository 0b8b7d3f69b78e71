// Schedules made on the device against those made on the processor (which tests/regrouping compares with obvious ones).
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "capture/reference/scene.hpp"
#include "capture/trace/reader.hpp"
#include "kernels/regrouping/rounds.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/regrouping/regroup.hpp"
#include "tests/kernels-regrouping/support.hpp"
#include "tests/reference/support.hpp"
#include "tests/regrouping/random_schedules.hpp"

namespace rayreplay {
namespace {

using scheduler::PlanContext;
using scheduler::Regrouping;
using scheduler::Scope;
using scheduler::SegmentSchedule;
using test::describe;
using test::random_keys;
using test::regroupings;
using Shape = test::ScheduleShape;
using Keys = trace::Column<std::uint64_t>;

void compare(const PlanContext& plan, trace::AcceleratedLaunch& launch, const Keys& keys, const Regrouping& regrouping,
             const std::string& what) {
  PlanContext on_device = plan;
  on_device.on_device = &launch;
  const SegmentSchedule found = schedule_rounds(on_device, keys, regrouping);
  ASSERT_NE(found.on_device, nullptr);
  ASSERT_NO_THROW(check(found, plan.segments)) << what << describe(regrouping);
  test::expect_same(found, schedule_rounds(plan, keys, regrouping), what + describe(regrouping));
}

class RoundsOnDevice : public testing::TestWithParam<Shape> {};

TEST_P(RoundsOnDevice, MakeTheSameSchedule) {
  const Shape shape = GetParam();
  std::mt19937_64 random(shape.warp_size * 1000 + shape.threads + shape.keys);
  test::Plan plan = test::random_plan(shape, 3, random);
  trace::AcceleratedLaunch launch(test::shared_accelerator(), plan.launch());
  plan.cut({.at = scheduler::CutAt::PendingCall});
  const Keys keys = random_keys(plan.segments().size(), shape.keys, random);
  for (const Regrouping& regrouping : regroupings()) {
    compare(plan.context(), launch, keys, regrouping, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RoundsOnDevice,
                         testing::Values(Shape{1, 60, 4}, Shape{4, 8, 2}, Shape{8, 333, 7}, Shape{13, 300, 5},
                                         Shape{32, 1, 3}, Shape{32, 900, 1}, Shape{32, 900, 100'000},
                                         Shape{64, 700, 4}),
                         test::shape_name);

/// A plan of random threads in a linear order.
test::Plan random_plan(std::uint32_t threads, std::uint32_t most_rays, std::uint32_t warp_size) {
  test::Plan plan(test::RandomLaunch(11, 17).make(threads, most_rays), test::shaders_of_all_stages(11), warp_size);
  plan.machine.sms = 6;
  plan.cut({.at = scheduler::CutAt::PendingCall});
  return plan;
}

TEST(Rounds, OfManyWarpsWithManyKeys) {
  const test::Plan plan = random_plan(12'000, 3, 32);
  trace::AcceleratedLaunch launch(test::shared_accelerator(), plan.launch());
  std::mt19937_64 random(3);
  for (const std::uint64_t distinct : {6U, 1000U, 1'000'000U}) {
    const Keys keys = random_keys(plan.segments().size(), distinct, random);
    for (const Scope scope : {Scope::Sm, Scope::Launch}) {
      compare(plan.context(), launch, keys, {.scope = scope}, "");
      compare(plan.context(), launch, keys, {.scope = scope, .split_keys = true, .only_if_fewer = true}, "");
    }
  }
}

TEST(Rounds, WhoseKeysTakeAll64Bits) {
  const test::Plan plan = random_plan(2000, 4, 32);
  trace::AcceleratedLaunch launch(test::shared_accelerator(), plan.launch());
  std::mt19937_64 random(4);
  Keys few(plan.segments().size());
  Keys many(plan.segments().size());
  for (std::size_t i = 0; i < few.size(); ++i) {
    few[i] = (random() & 1) != 0 ? 0 : ~std::uint64_t{0} >> random() % 3;
    many[i] = random();
  }
  for (const Scope scope : {Scope::Pool, Scope::Sm, Scope::Launch}) {
    for (const bool split : {false, true}) {
      compare(plan.context(), launch, few, {.scope = scope, .pool_warps = 4, .split_keys = split}, "few, ");
      compare(plan.context(), launch, many, {.scope = scope, .pool_warps = 4, .split_keys = split}, "many, ");
    }
  }
}

TEST(Rounds, OfAWindowOfALaunch) {
  // Two thirds of the warps, and some threads of the others, were not recorded.
  std::mt19937_64 random(5);
  test::RandomLaunch threads(11, 6);
  const trace::Launch recorded = threads.make(1200, 2);
  trace::Launch launch = recorded;
  launch.size = {3600, 1, 1};
  auto& data = launch.data;
  data.event_offset.clear();
  data.ray_offset.clear();
  for (std::size_t thread = 0; thread <= 3600; ++thread) {
    const std::size_t from = std::clamp<std::size_t>(thread, 1207, 2407) - 1207;
    data.event_offset.push_back(recorded.data.event_offset[from]);
    data.ray_offset.push_back(recorded.data.ray_offset[from]);
  }
  test::Plan plan(launch, test::shaders_of_all_stages(11), 32);
  plan.machine.sms = 7;
  plan.cut({.at = scheduler::CutAt::PendingCall});
  trace::AcceleratedLaunch on_device(test::shared_accelerator(), plan.launch());
  const Keys keys = random_keys(plan.segments().size(), 5, random);
  for (const Regrouping& regrouping : regroupings()) {
    compare(plan.context(), on_device, keys, regrouping, "");
  }
}

TEST(Rounds, OfNothing) {
  for (const std::uint32_t threads : {0U, 40U}) {
    test::Plan plan(test::RandomLaunch(11, 1).make(threads, 0), test::shaders_of_all_stages(11), 32);
    plan.machine.sms = 3;
    plan.cut({.at = scheduler::CutAt::PendingCall});
    trace::AcceleratedLaunch launch(test::shared_accelerator(), plan.launch());
    for (const Regrouping& regrouping : regroupings()) {
      compare(plan.context(), launch, {}, regrouping, std::to_string(threads) + " threads, ");
    }
  }
}

/// The schedules of models, with segments cut and keys made on the device too.
void compare_models(const trace::Trace& trace, const scheduler::WarpAssignment& order, std::uint32_t sms,
                    const std::vector<const char*>& specs) {
  const trace::Launch& launch = trace.launches.at(0);
  trace::AcceleratedLaunch on_device(test::shared_accelerator(), launch);
  const scheduler::MachineFacts machine{.sms = sms, .withheld_sms = 1};
  const scheduler::HintSources hints;
  for (const char* const spec : specs) {
    const auto model = scheduler::SchedulerModels::create(spec).model;
    const scheduler::Segments segments = cut_paths(launch, model->cut());
    const scheduler::Segments there = cut_paths(launch, model->cut(), &on_device);
    test::expect_same(there, segments, spec);
    const SegmentSchedule expected = model->schedule({trace, launch, order, segments, machine, hints});
    const SegmentSchedule found = model->schedule({trace, launch, order, there, machine, hints, &on_device});
    ASSERT_NE(found.on_device, nullptr);
    EXPECT_EQ(static_cast<const kernels::ScheduleOnDevice*>(found.on_device.get())->warps, found.warps());
    ASSERT_NO_THROW(check(found, segments)) << spec;
    test::expect_same(found, expected, spec);
  }
}

/// Whoever solves for a break-even runs several machines at a time: their exchanges must leave the device alone.
TEST(Rounds, ExchangesAreMadeOnTheProcessor) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/one-weekend-ser.rrt");
  const auto order = scheduler::LaunchOrders::create("captured").model->assign(trace.launches.at(0), 32);
  const auto accelerator = test::open_accelerator();
  trace::AcceleratedLaunch on_device(*accelerator, trace.launches.at(0));
  const auto model = scheduler::SchedulerModels::create("ser:arrival=full,scope=sm").model;
  const scheduler::Segments segments = cut_paths(trace.launches.at(0), model->cut());
  const scheduler::MachineFacts machine{.sms = 4};
  const scheduler::HintSources hints;
  EXPECT_EQ(model->exchanges({trace, trace.launches.at(0), order, segments, machine, hints, &on_device}).size(), 4U);
  EXPECT_TRUE(accelerator->records().empty());
}

TEST(Rounds, OfModelsOnCaptures) {
  // The device has 132 SMs: with fewer, units are not those of the capture.
  for (const auto& [name, sms] : {std::pair("one-weekend-ser", 133U), std::pair("teapot-alpha", 24U)}) {
    const trace::Trace trace = trace::load(std::string(RAYREPLAY_SOURCE_DIR "/tests/data/h200/") + name + ".rrt");
    const auto order = scheduler::LaunchOrders::create("captured").model->assign(trace.launches.at(0), 32);
    compare_models(trace, order, sms, {"ser", "ser:scope=sm", "compaction"});
  }
}

TEST(Rounds, OfModelsOnATracedScene) {
  reference::TracerOptions options;
  options.width = 90;
  options.height = 50;
  options.samples = 1;
  const reference::RenderScene scene = reference::make_scene("one-weekend", &options.scene_spec);
  const trace::Trace trace = test::traced(scene, options);
  for (const std::uint32_t warp_size : {8U, 32U}) {
    compare_models(trace, scheduler::LaunchOrders::create("z-order").model->assign(trace.launches[0], warp_size), 8,
                   {"plain", "ser", "ser:scope=sm", "ser:scope=pool,pool_warps=8", "ser:scope=warp",
                    "ser:spatial=hit,spatial_bits=3", "ser:first_bounce=1,shader_bits=2,withheld=0,scope=sm",
                    "compaction", "compaction:scope=sm", "compaction:scope=pool", "wavefront"});
  }
}

}  // namespace
}  // namespace rayreplay
