// Does the experiment say what the libraries it joins say, for every packing, whatever the number of threads?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <tbb/global_control.h>

#include "base/error.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"
#include "sim/engine/stages/simt.hpp"
#include "tests/engine/random_launch.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/opened.hpp"

namespace rayreplay::experiment {
namespace {

WhatIfResult run(const trace::Trace& trace, const std::vector<std::string>& keys, bool maps = false,
                 const std::vector<std::string>& packings = {}) {
  test::Opened opened(trace, keys);
  return what_if(opened.bench, opened.experiment, {.packings = packings, .swizzles = {}, .pixel_maps = maps});
}

TEST(WhatIf, TheWorkedExampleOfTheDefinitions) {
  // (begin int1 miss) (begin int1 int2 chit) (begin int2 chit) (begin int2 chit), S = 4: 13/20.
  test::LaunchBuilder builder({4, 1, 1});
  builder.thread().begin(0).intersection(1).miss(3);
  builder.thread().begin(0).intersection(1).intersection(2).closest_hit(4);
  builder.thread().begin(0).intersection(2).closest_hit(4);
  builder.thread().begin(0).intersection(2).closest_hit(4);
  trace::Trace trace;
  using trace::ShaderStage;
  trace.shaders = {{ShaderStage::RayGeneration, "main", "raygen", {}},
                   {ShaderStage::Intersection, "main", "int1", {}},
                   {ShaderStage::Intersection, "main", "int2", {}},
                   {ShaderStage::Miss, "main", "miss", {}},
                   {ShaderStage::ClosestHit, "main", "chit", {}}};
  trace.launches.push_back(builder.build());
  const WhatIfResult result = run(trace, {"warp_size=4", "order=linear", "costs.int2=10"}, false, {"identity"});
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(result.rows[0].efficiency, 0.65);
  EXPECT_EQ(result.rows[0].replay.total.warp_events, 5U);
  // Costs 1 1 10 1 1 times lanes 4 2 3 1 3.
  EXPECT_DOUBLE_EQ(result.rows[0].weighted_efficiency, 40.0 / (4 * 14));
  EXPECT_EQ(result.bound.warp_events, 5U);
  EXPECT_DOUBLE_EQ(result.weighted_bound, 40.0 / (4 * 14));
  EXPECT_EQ(result.warps, 1U);
  EXPECT_EQ(result.rays, 4U);
  EXPECT_EQ(result.events, 13U);
}

TEST(WhatIf, RowsAgreeWithTheLibrariesForEveryPacking) {
  const trace::Trace trace = test::random_trace({40, 24, 1}, 7);
  const WhatIfResult result = run(trace, {"costs.metal=17"}, true);
  const trace::Launch& launch = trace.launches[0];
  const scheduler::WarpAssignment order =
      scheduler::LaunchOrders::create(result.configuration.order).model->assign(launch, 32);
  ASSERT_EQ(result.rows.size(), scheduler::Packings::names().size());
  for (const WhatIfRow& row : result.rows) {
    simt::ReplayOptions options;
    options.shader_cost = result.configuration.costs;
    const simt::ReplayResult expected = simt::replay(
        launch, trace.shaders,
        scheduler::apply(order, scheduler::Packings::create(row.packing).model->compute(launch, order)), options);
    EXPECT_EQ(row.replay.total, expected.total) << row.packing;
    EXPECT_DOUBLE_EQ(row.efficiency, expected.total.efficiency(32)) << row.packing;
    EXPECT_DOUBLE_EQ(row.weighted_efficiency, expected.total.weighted_efficiency(32)) << row.packing;
    EXPECT_DOUBLE_EQ(row.change, row.efficiency / result.rows[0].efficiency - 1) << row.packing;
    // No packing does other work, and none beats the bounds.
    EXPECT_EQ(row.replay.total.active_lanes, result.bound.calls) << row.packing;
    EXPECT_GE(row.replay.total.warp_events, result.bound.warp_events) << row.packing;
    EXPECT_LE(row.weighted_efficiency, result.weighted_bound) << row.packing;
    EXPECT_EQ(row.replay.by_thread.capacity(), 0U);
  }
}

TEST(WhatIf, DoesNotDependOnTheNumberOfThreads) {
  const trace::Trace trace = test::random_trace({64, 32, 1}, 3);
  const WhatIfResult many = run(trace, {}, true);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const WhatIfResult single = run(trace, {}, true);
  ASSERT_EQ(many.rows.size(), single.rows.size());
  for (std::size_t i = 0; i < many.rows.size(); ++i) {
    EXPECT_EQ(many.rows[i].packing, single.rows[i].packing);
    EXPECT_EQ(many.rows[i].replay.total, single.rows[i].replay.total);
    EXPECT_THAT(many.rows[i].efficiency_map.values,
                testing::Pointwise(testing::NanSensitiveFloatEq(), single.rows[i].efficiency_map.values));
  }
}

TEST(WhatIf, TheFirstFailingRowIsReported) {
  const trace::Trace trace = test::random_trace({64, 36, 1}, 5);
  const WhatIfResult before = run(trace, {});
  EXPECT_THAT(test::message_of(
                  ErrorKind::Usage,
                  [&] {
                    static_cast<void>(run(trace, {}, false, {"identity", "no-such-packing", "random", "nor-this-one"}));
                  }),
              testing::HasSubstr("no-such-packing"));
  // A failure leaves nothing behind: the same question has the same answer.
  const WhatIfResult after = run(trace, {});
  ASSERT_EQ(after.rows.size(), before.rows.size());
  for (std::size_t i = 0; i < after.rows.size(); ++i) {
    EXPECT_EQ(after.rows[i].replay.total, before.rows[i].replay.total) << after.rows[i].packing;
  }
}

TEST(WhatIf, ALaunchWithoutEventsIsNoError) {
  trace::Trace trace = test::random_trace({8, 4, 1}, 1);
  trace.launches[0] = test::LaunchBuilder({8, 4, 1}).build();
  const WhatIfResult result = run(trace, {}, true);
  for (const WhatIfRow& row : result.rows) {
    EXPECT_EQ(row.efficiency, 0) << row.packing;
    EXPECT_EQ(row.change, 0) << row.packing;
    EXPECT_TRUE(std::isnan(row.efficiency_map.values[0])) << row.packing;
  }
  EXPECT_EQ(result.bound.warp_events, 0U);
}

TEST(PixelMaps, CountsAreThoseOfTheThreadsSlicesSummed) {
  const trace::LaunchSize size{5, 3, 4};
  const trace::Trace trace = test::random_trace(size, 11);
  const trace::Launch& launch = trace.launches[0];
  const PixelCounts counts = count_pixels(launch);
  ASSERT_EQ(counts.rays.values.size(), 15U);
  std::vector<float> rays(15), intersections(15), any_hits(15);
  for (std::size_t thread = 0; thread < size.threads(); ++thread) {
    for (auto row = launch.data.event_offset[thread]; row < launch.data.event_offset[thread + 1]; ++row) {
      const trace::EventKind kind = launch.data.events.kind[row];
      rays[thread % 15] += kind == trace::EventKind::Begin ? 1.0F : 0.0F;
      intersections[thread % 15] += kind == trace::EventKind::Intersection ? 1.0F : 0.0F;
      any_hits[thread % 15] += kind == trace::EventKind::AnyHit ? 1.0F : 0.0F;
    }
  }
  EXPECT_EQ(counts.rays.values, rays);
  EXPECT_EQ(counts.intersections.values, intersections);
  EXPECT_EQ(counts.any_hits.values, any_hits);
}

TEST(PixelMaps, EfficiencySumsSlicesBeforeDividing) {
  const std::vector<simt::Tally> by_thread = {{1, 32, 0, 0}, {0, 0, 0, 0}, {3, 32, 0, 0}, {0, 0, 0, 0}};
  const PixelMap map = efficiency_map({2, 1, 2}, by_thread, 32);
  EXPECT_FLOAT_EQ(map.values[0], 50);
  EXPECT_TRUE(std::isnan(map.values[1]));
}

TEST(PixelMaps, OrderIsTheStartOfThePixelsWarp) {
  scheduler::WarpAssignment assignment;
  assignment.warp_size = 2;
  assignment.thread_at = {3, 0, 1, scheduler::kNoThread, 2, scheduler::kNoThread};
  assignment.start_rank = {2, 0, 1};
  assignment.tile = {0, 0, 0};
  EXPECT_THAT(order_map({2, 2, 1}, assignment).values, testing::ElementsAre(2, 0, 1, 2));
}

}  // namespace
}  // namespace rayreplay::experiment
