// The models on launches one can follow by hand.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "base/error.hpp"
#include "scheduler-models/bound.hpp"
#include "scheduler-models/regrouping/regroup.hpp"
#include "scheduler-models/regrouping/segment_bound.hpp"
#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "sim/simt/segment_replay.hpp"
#include "tests/regrouping/support.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay {
namespace {

using scheduler::Segments;

TEST(Plain, IsTheReplayOfTheOrder) {
  const auto shaders = test::shaders_of_all_stages(11);
  std::mt19937_64 random(3);
  trace::Trace trace;
  trace.shaders = shaders;
  trace.launches.push_back(test::RandomLaunch(11, 5).make(700, 5));
  for (const std::uint32_t warp_size : {1U, 4U, 8U, 32U, 64U}) {
    test::Plan plan(trace, test::shuffled_assignment(700, warp_size, random));
    const auto schedule = plan.schedule("plain");
    check(schedule, plan.segments());
    const auto result =
        simt::replay_segments(plan.launch(), shaders, plan.segments(), schedule.segment_at, warp_size, {});
    const auto expected = simt::replay(plan.launch(), shaders, plan.order());
    EXPECT_EQ(result.replay.total, expected.total);
    EXPECT_EQ(result.replay.by_kind, expected.by_kind);
    EXPECT_EQ(result.replay.by_shader, expected.by_shader);
  }
}

/// ReRay's listing 3.2: two warps of four threads, two rays each.
class Listing : public testing::Test {
 protected:
  static constexpr std::uint16_t kBegin = 0, kInt1 = 1, kInt2 = 2, kHit = 3, kMiss = 4;

  Listing() : plan_(launch(), shaders(), 4) {}

  static std::vector<trace::Shader> shaders() {
    using trace::ShaderStage;
    return test::shaders_of({ShaderStage::RayGeneration, ShaderStage::Intersection, ShaderStage::Intersection,
                             ShaderStage::ClosestHit, ShaderStage::Miss});
  }
  static trace::Launch launch() {
    struct Ray {
      std::uint16_t intersection;
      bool hits;
    };
    const Ray rays[8][2] = {{{kInt1, false}, {kInt1, true}},  {{kInt1, true}, {kInt1, false}},
                            {{kInt2, true}, {kInt2, true}},   {{kInt2, true}, {kInt2, true}},
                            {{kInt1, true}, {kInt1, false}},  {{kInt1, false}, {kInt1, true}},
                            {{kInt2, false}, {kInt2, false}}, {{kInt2, false}, {kInt2, false}}};
    test::LaunchBuilder builder({8, 1, 1});
    for (const auto& thread : rays) {
      builder.thread();
      for (const Ray& ray : thread) {
        builder.begin(kBegin).intersection(ray.intersection);
        if (ray.hits) {
          builder.report(ray.intersection).closest_hit(kHit);
        } else {
          builder.miss(kMiss);
        }
      }
    }
    return builder.build();
  }

  /// The threads of each warp, lane by lane: "0 5 6 7".
  std::vector<std::string> warps(const scheduler::SegmentSchedule& schedule) {
    const auto thread_of = thread_of_segments(plan_.segments());
    std::vector<std::string> result(schedule.warps());
    for (std::size_t place = 0; place < schedule.segment_at.size(); ++place) {
      std::string& text = result[place / schedule.warp_size];
      text += text.empty() ? "" : " ";
      const std::uint32_t segment = schedule.segment_at[place];
      text += segment == scheduler::kNoSegment ? "-" : std::to_string(thread_of[segment]);
    }
    return result;
  }
  std::string events(const scheduler::SegmentSchedule& schedule) {
    const trace::Launch segments = test::segments_as_threads(plan_.launch(), plan_.segments());
    const auto assignment = test::schedule_as_assignment(schedule);
    std::string text;
    for (std::size_t warp = 0; warp < schedule.warps(); ++warp) {
      text +=
          test::listing(test::replay_warp(segments, plan_.shaders(), assignment, warp, simt::Policy::StageMajority), 4);
    }
    return text;
  }

  test::Plan plan_;
};

TEST_F(Listing, SerMakesThePublishedWarps) {
  const auto schedule = plan_.schedule("ser");
  check(schedule, plan_.segments());
  EXPECT_EQ(schedule.units(), 1U);
  EXPECT_EQ(schedule.rounds(), 3U);
  EXPECT_EQ(warps(schedule),
            (std::vector<std::string>{"0 1 2 3", "4 5 6 7", "0 5 6 7", "4 1 2 3", "4 1 6 7", "0 5 2 3"}));
  // Warp 0 of B continues the second warp of A (three of its threads), warp 1 the first.
  EXPECT_EQ(schedule.moved, (trace::Column<std::uint32_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(events(schedule),
            "Begin 0 1111\nIntersection 1 1100\nIntersection 2 0011\n"
            "Begin 0 1111\nIntersection 1 1100\nIntersection 2 0011\n"
            "Miss 4 1111\nBegin 0 1111\nIntersection 1 1100\nIntersection 2 0011\n"
            "ClosestHit 3 1111\nBegin 0 1111\nIntersection 1 1100\nIntersection 2 0011\n"
            "Miss 4 1111\n"
            "ClosestHit 3 1111\n");
}

TEST_F(Listing, ReplayOfSerCountsIt) {
  const auto schedule = plan_.schedule("ser");
  simt::SegmentReplayOptions options;
  options.detail = true;
  const auto result =
      simt::replay_segments(plan_.launch(), plan_.shaders(), plan_.segments(), schedule.segment_at, 4, options);
  EXPECT_EQ(result.replay.total, (simt::Tally{16, 48, 16, 48}));
  EXPECT_EQ(result.active_lanes[4], 8U);
  EXPECT_EQ(result.active_lanes[2], 8U);
  ASSERT_EQ(result.by_bounce.size(), 2U);
  const auto at = [&](std::size_t bounce, trace::EventKind kind) {
    return result.by_bounce[bounce][static_cast<std::size_t>(kind)].warp_events;
  };
  EXPECT_EQ(at(0, trace::EventKind::Begin), 2U);
  EXPECT_EQ(at(0, trace::EventKind::Intersection), 4U);
  EXPECT_EQ(at(0, trace::EventKind::Miss), 1U);
  EXPECT_EQ(at(1, trace::EventKind::Begin), 2U);
  EXPECT_EQ(at(1, trace::EventKind::ClosestHit), 1U);
}

/// Three warps of four threads; every second thread ends after its first ray, the others trace two.
trace::Launch half_die() {
  test::LaunchBuilder builder({12, 1, 1});
  for (int thread = 0; thread < 12; ++thread) {
    builder.thread().begin(0).closest_hit(3);
    if (thread % 2 == 0) {
      builder.begin(0).miss(4);
    }
  }
  return builder.build();
}

class Models : public Listing {
 protected:
  Models() {
    dying_.machine.sms = 3;
  }
  std::vector<std::string> warps_of(test::Plan& plan, const std::string& spec) {
    const auto schedule = plan.schedule(spec);
    EXPECT_NO_THROW(check(schedule, plan.segments()));
    const auto thread_of = thread_of_segments(plan.segments());
    std::vector<std::string> result(schedule.warps());
    for (std::size_t place = 0; place < schedule.segment_at.size(); ++place) {
      const std::uint32_t segment = schedule.segment_at[place];
      result[place / schedule.warp_size] +=
          (place % schedule.warp_size == 0 ? "" : " ") +
          (segment == scheduler::kNoSegment ? "-" : std::to_string(thread_of[segment]));
    }
    return result;
  }
  static std::string usage_error(const std::string& spec) {
    return test::message_of(ErrorKind::Usage, [&] { (void)scheduler::SchedulerModels::create(spec); });
  }

  test::Plan dying_{half_die(), shaders(), 4};
};

TEST_F(Models, CompactionClosesRanksOnlyWhereThatSavesWarps) {
  // The first exchange finds everybody alive and leaves them where they are.
  EXPECT_EQ(warps_of(dying_, "compaction"), (std::vector<std::string>{"0 1 2 3", "4 5 6 7", "8 9 10 11", "0 1 2 3",
                                                                      "4 5 6 7", "8 9 10 11", "0 4 2 6", "8 - 10 -"}));
  EXPECT_EQ(dying_.schedule("compaction").moved, (trace::Column<std::uint32_t>{0, 0, 0, 0, 0, 0, 2, 0}));
  EXPECT_EQ(warps_of(dying_, "compaction:scope=warp").back(), "8 - 10 -");
}

TEST_F(Models, WavefrontNeverMixesShaders) {
  EXPECT_EQ(warps_of(plan_, "wavefront"),
            (std::vector<std::string>{"0 1 2 3", "4 5 6 7", "0 5 6 7", "1 2 3 4", "6 7 1 4", "0 5 2 3"}));
  const auto created = scheduler::SchedulerModels::create("wavefront:state=100");
  dying_.cut(created.model->cut());
  EXPECT_EQ(created.model->state_bytes(dying_.context()), 1200U);
  EXPECT_EQ(created.model->charges(dying_.machine).bytes_per_thread, 200);
}

TEST_F(Models, ScopesBoundWhoMeets) {
  const auto pool = dying_.schedule("ser:scope=pool,pool_warps=2");
  EXPECT_EQ(pool.units(), 2U);
  EXPECT_FALSE(pool.spread);
  const auto sm = dying_.schedule("ser:scope=sm,withheld=1");
  EXPECT_EQ(sm.unit_sm, (trace::Column<std::uint32_t>{0, 1}));
  EXPECT_TRUE(dying_.schedule("ser").spread);
}

TEST_F(Models, SerChargesTheMachinesCostsUnlessToldOtherwise) {
  const scheduler::MachineFacts machine{.sms = 24, .reorders = true, .withheld_sms = 2, .reorder_cycles = 300};
  const auto standard = scheduler::SchedulerModels::create("ser").model->charges(machine);
  EXPECT_EQ(standard.cycles_per_warp, 300);
  EXPECT_EQ(standard.bytes_per_thread, 168);
  EXPECT_EQ(standard.bytes_per_moved, 0);
  EXPECT_EQ(standard.withheld_sms, 2U);
  const auto own = scheduler::SchedulerModels::create(
                       "ser:reorder_cycles=10,live_state=222,spill=moved,withheld=0,bandwidth=64,"
                       "split_cycles=5")
                       .model->charges(machine);
  EXPECT_EQ(own.cycles_per_warp, 10);
  EXPECT_EQ(own.cycles_per_cut, 5);
  EXPECT_EQ(own.bytes_per_moved, 444);
  EXPECT_EQ(own.bytes_per_thread, 0);
  const auto nobody = scheduler::SchedulerModels::create("ser:scope=warp").model->charges(machine);
  EXPECT_EQ(nobody.bytes_per_moved + nobody.bytes_per_thread, 0) << "nobody is exchanged, nothing spills";
  EXPECT_EQ(own.bytes_per_cycle, 64);
  EXPECT_EQ(own.withheld_sms, 0U);
  EXPECT_THROW((void)scheduler::SchedulerModels::create("ser:withheld=24").model->charges(machine), Error);
}

TEST_F(Models, SerExchangesOneByOneWhereAsked) {
  dying_.cut({.at = scheduler::CutAt::PendingCall});
  const auto sm = scheduler::SchedulerModels::create("ser:scope=sm,arrival=full");
  EXPECT_EQ(sm.model->grouping(), scheduler::Grouping::Timed);
  EXPECT_EQ(sm.model->exchanges(dying_.context()).size(), 3U);
  const auto launch = scheduler::SchedulerModels::create("ser:arrival=timeout,timeout=100");
  EXPECT_EQ(launch.model->exchanges(dying_.context()).size(), 1U);
  EXPECT_THROW((void)launch.model->schedule(dying_.context()), Error);
  EXPECT_NE(usage_error("ser:scope=pool,arrival=full").find("say scope=sm"), std::string::npos);
  EXPECT_NE(usage_error("ser:scoop=sm").find("scope"), std::string::npos);
}

TEST_F(Models, TheBoundIsTheSumOverRoundsAndCalls) {
  plan_.cut({.at = scheduler::CutAt::PendingCall});
  const auto bound = scheduler::segment_bound(plan_.launch(), plan_.shaders(), plan_.segments(), 4);
  // A: two warp events of Begin, one of each intersection shader. B: a miss and a closest hit more. C: these alone.
  EXPECT_EQ(bound.by_round, (std::vector<scheduler::BoundSum>{{4, 16}, {6, 24}, {2, 8}}));
  EXPECT_EQ(bound.total, (scheduler::BoundSum{12, 48}));
  EXPECT_EQ(bound.efficiency, 1.0);
}

/// Σ over rounds and calls, with a map.
scheduler::BoundSum reference_bound(const test::Plan& plan, std::uint32_t warp_size) {
  std::map<std::tuple<std::uint32_t, trace::EventKind, std::uint16_t>, std::uint64_t> calls;
  for (std::size_t thread = 0; thread < plan.launch().data.threads(); ++thread) {
    const std::uint32_t begin = plan.segments().first.at(thread);
    for (std::uint32_t segment = begin; segment < plan.segments().first.at(thread + 1); ++segment) {
      for (std::uint64_t row = plan.segments().event_offset.at(segment);
           row < plan.segments().event_offset.at(segment + std::size_t{1}); ++row) {
        const auto kind = plan.launch().data.events.kind.at(row);
        if (trace::is_warp_event(kind)) {
          ++calls[{segment - begin, kind, plan.launch().data.events.shader.at(row)}];
        }
      }
    }
  }
  scheduler::BoundSum sum;
  for (const auto& [call, count] : calls) {
    sum.warp_events += (count + warp_size - 1) / warp_size;
    sum.calls += count;
  }
  return sum;
}

TEST(SegmentBound, AgreesWithItsTwinAndHoldsForTheModels) {
  for (const std::size_t shaders : {6U, 11U, 700U}) {
    for (const std::uint32_t warp_size : {1U, 8U, 32U}) {
      std::mt19937_64 random(shaders + warp_size);
      trace::Trace trace;
      trace.shaders = test::shaders_of_all_stages(shaders);
      trace.launches.push_back(test::RandomLaunch(shaders, random()).make(400, 6));
      test::Plan plan(trace, test::shuffled_assignment(400, warp_size, random));
      for (const char* const spec : {"plain", "ser", "compaction:scope=pool", "wavefront"}) {
        const auto schedule = plan.schedule(spec);
        const auto bound = scheduler::segment_bound(plan.launch(), plan.shaders(), plan.segments(), warp_size);
        EXPECT_EQ(bound.total, reference_bound(plan, warp_size));
        const auto replay =
            simt::replay_segments(plan.launch(), plan.shaders(), plan.segments(), schedule.segment_at, warp_size, {})
                .replay;
        EXPECT_EQ(replay.total.active_lanes, bound.total.calls) << spec;
        EXPECT_GE(replay.total.warp_events, bound.total.warp_events) << spec;
        scheduler::BoundSum by_call;
        for (const auto& call : bound.by_call) {
          by_call.warp_events += call.sum.warp_events;
          by_call.calls += call.sum.calls;
        }
        EXPECT_EQ(by_call, bound.total);
      }
      plan.cut({});
      const auto whole = scheduler::lower_bound(plan.launch(), warp_size);
      EXPECT_EQ(scheduler::segment_bound(plan.launch(), plan.shaders(), plan.segments(), warp_size).total,
                (scheduler::BoundSum{whole.warp_events, whole.calls}));
    }
  }
}

}  // namespace
}  // namespace rayreplay
