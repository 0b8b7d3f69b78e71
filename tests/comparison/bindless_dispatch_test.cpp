// Bindless dispatch: what is cut and queued apart, and whole launches run on a small machine.
#include <gtest/gtest.h>

#include <algorithm>

#include <set>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "scheduler-models/launch_order.hpp"
#include "sim/launch/resolve.hpp"
#include "sim/machine/timing.hpp"
#include "tests/support/launch_builder.hpp"

namespace rayreplay::scheduler {
namespace {

using Rows = std::vector<std::uint64_t>;

Rows cut_rows(const trace::Launch& launch, const std::string& spec) {
  const Segments segments = cut_paths(launch, SchedulerModels::create(spec).model->cut());
  return {segments.event_offset.begin(), segments.event_offset.end()};
}

TEST(BindlessDispatch, CutsWhereAShaderStartsAnew) {
  test::LaunchBuilder builder({1, 1, 1});
  // Rows:           0        1                2          3           4           5               6
  builder.thread().begin(0).intersection(1).report(1).any_hit(2).closest_hit(3).begin(3).occlusion_begin(0).miss(4);
  const trace::Launch launch = builder.build();
  // The trace call of row 5 is made by the closest-hit shader that was just entered: no return lies between.
  EXPECT_EQ(cut_rows(launch, "bindless-dispatch:inline_any_hit=false"), (Rows{0, 1, 3, 4, 6, 7, 8}));
  EXPECT_EQ(cut_rows(launch, "bindless-dispatch"), (Rows{0, 1, 4, 6, 7, 8}));
}

TEST(BindlessDispatch, InlinesOnlyAnyHitsOfTheIntersectionShader) {
  test::LaunchBuilder builder({1, 1, 1});
  builder.thread().begin(0).any_hit(2).intersection(1).any_hit(2).report(1).any_hit(2).miss(4);
  EXPECT_EQ(cut_rows(builder.build(), "bindless-dispatch"), (Rows{0, 1, 2, 3, 6, 7}));
}

/// Threads of a launch, one SM and nobody dispatched before all have arrived: which segments share a warp.
std::vector<std::set<std::uint32_t>> queues_of(const trace::Trace& trace, const std::vector<std::uint32_t>& arrivals,
                                               const std::string& spec) {
  const trace::Launch& launch = trace.launches[0];
  const auto created = SchedulerModels::create(spec);
  const WarpAssignment order = LaunchOrders::create("linear").model->assign(launch, 32);
  const Segments segments = cut_paths(launch, created.model->cut());
  const HintSources hints;
  const auto exchanges = created.model->exchanges({trace, launch, order, segments, {}, hints});
  EXPECT_EQ(exchanges.size(), 1U);
  std::uint32_t warp = 0;
  for (const std::uint32_t segment : arrivals) {
    exchanges[0]->arrive({segment, warp++, 0}, 0);
  }
  std::vector<std::set<std::uint32_t>> result;
  while (exchanges[0]->waiting() > 0) {
    std::vector<FormedWarp> out;
    exchanges[0]->release(0, true, out);
    for (const FormedWarp& formed : out) {
      std::set<std::uint32_t>& members = result.emplace_back();
      for (const std::uint32_t segment : formed.segment_at) {
        if (segment != kNoSegment) {
          members.insert(segment);
        }
      }
    }
  }
  return result;
}

TEST(BindlessDispatch, QueuesByShaderAndByWhereItGoesOn) {
  test::LaunchBuilder builder({3, 1, 1});
  // Segments: 0 begin, 1 hit, 2 begin (back in ray generation), 3 miss; then the same of threads 1 and 2.
  for (int thread = 0; thread < 3; ++thread) {
    builder.thread().begin(0).closest_hit(3).begin(0).miss(4);
  }
  trace::Trace trace;
  trace.launches.push_back(builder.build());
  using Sets = std::vector<std::set<std::uint32_t>>;
  const std::vector<std::uint32_t> arrivals = {1, 2, 5, 6, 7, 9, 10, 11};
  EXPECT_EQ(queues_of(trace, arrivals, "bindless-dispatch"), (Sets{{1, 5, 9}, {2, 6, 10}, {7, 11}}));
  // Thread 2 returns to another trace call of ray generation than the others.
  trace.launches[0].data.rays.site = {1, 2, 1, 2, 2, 2};
  EXPECT_EQ(queues_of(trace, arrivals, "bindless-dispatch"), (Sets{{1, 5, 9}, {2, 6}, {7, 11}, {10}}));
  EXPECT_EQ(queues_of(trace, {1, 5, 9}, "bindless-dispatch:simd_width=2"), (Sets{{1, 5}, {9}}));
  EXPECT_EQ(queues_of(trace, {1, 5, 9, 7}, "bindless-dispatch:queue_threads=2"), (Sets{{1, 5, 9}, {7}}));
}

TEST(BindlessDispatch, RefusesMoreThreadsThanAWarpHolds) {
  test::LaunchBuilder builder({1, 1, 1});
  builder.thread().begin(0).miss(4);
  trace::Trace trace;
  trace.launches.push_back(builder.build());
  try {
    queues_of(trace, {}, "bindless-dispatch:simd_width=64");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage);
    EXPECT_EQ(error.info().found, "64");
    EXPECT_EQ(error.info().expected, "at most 32, the warp size");
  }
}

struct Ran {
  Segments segments;
  machine::TimedRun run;
  std::uint64_t state_bytes = 0;
};

Ran run(const trace::Trace& trace, const std::string& spec) {
  const trace::Launch& launch = trace.launches.at(0);
  const experiment::Resolved configuration = experiment::resolve({}, trace);
  const auto created = SchedulerModels::create(spec);
  const WarpAssignment order = LaunchOrders::create(configuration.order).model->assign(launch, configuration.warp_size);
  machine::Machine machine;
  machine.sms = 4;
  const MachineFacts facts = machine::facts(machine, 6);
  const HintSources hints;
  Ran result;
  result.segments = cut_paths(launch, created.model->cut());
  const PlanContext context{trace, launch, order, result.segments, facts, hints};
  result.state_bytes = created.model->state_bytes(context);
  result.run = machine::run_timed(context, *created.model, machine, 6, machine::make_costs(trace, launch, {}),
                                  configuration.policy, created.model->charges(facts), {}, {});
  return result;
}

TEST(BindlessDispatch, RunsEverySegmentOnceWithItsLike) {
  for (const char* const file : {"one-weekend.rrt", "teapot-alpha.rrt"}) {
    const trace::Trace trace = trace::load(std::string(RAYREPLAY_SOURCE_DIR "/tests/data/h200/") + file);
    const trace::Launch& launch = trace.launches.at(0);
    const Ran ran = run(trace, "bindless-dispatch:stack_bytes=100");
    std::vector<int> seen(ran.segments.size(), 0);
    const auto& places = ran.run.schedule.segment_at;
    for (std::size_t warp = 0; warp < ran.run.schedule.warps(); ++warp) {
      std::set<std::pair<trace::EventKind, std::uint16_t>> calls;
      for (std::size_t lane = 0; lane < 32; ++lane) {
        const std::uint32_t segment = places[warp * 32 + lane];
        if (segment != kNoSegment) {
          ++seen[segment];
          const std::uint64_t row = ran.segments.event_offset[segment];
          calls.emplace(launch.data.events.kind[row], launch.data.events.shader[row]);
        }
      }
      EXPECT_EQ(calls.size(), 1U) << file << ", warp " << warp;
    }
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << file;
    EXPECT_GT(ran.run.timing.cycles, 0);
    EXPECT_EQ(ran.run.timing.traffic_bytes > 0, true);
    EXPECT_EQ(ran.state_bytes, 4U * 6 * 32 * 100);
    // The same again, and slower with dearer spawns.
    const Ran again = run(trace, "bindless-dispatch:stack_bytes=100");
    EXPECT_EQ(again.run.schedule.segment_at, places);
    EXPECT_EQ(again.run.timing.cycles, ran.run.timing.cycles);
    EXPECT_GT(run(trace, "bindless-dispatch:stack_bytes=100,spawn_cycles=5000").run.timing.cycles,
              ran.run.timing.cycles);
  }
}

TEST(BindlessDispatch, NarrowDispatchesFillAsManyLanes) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/one-weekend.rrt");
  const Ran ran = run(trace, "bindless-dispatch:simd_width=16");
  std::size_t formed = 0;
  for (std::size_t warp = 0; warp < ran.run.schedule.warps(); ++warp) {
    const std::uint32_t* const places = ran.run.schedule.segment_at.data() + warp * 32;
    const auto upper = std::count_if(places + 16, places + 32, [](std::uint32_t s) { return s != kNoSegment; });
    const bool first = std::any_of(places, places + 32, [&](std::uint32_t s) {
      return s != kNoSegment && std::binary_search(ran.segments.first.begin(), ran.segments.first.end(), s);
    });
    if (!first) {  // launched warps are as wide as the launch has them
      EXPECT_EQ(upper, 0);
      ++formed;
    }
  }
  EXPECT_GT(formed, 0U);
}

}  // namespace
}  // namespace rayreplay::scheduler
