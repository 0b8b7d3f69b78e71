// The models on launches one can follow by hand.
#include <gtest/gtest.h>

#include "scheduler-models/regrouping/regroup.hpp"
#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "sim/simt/segment_replay.hpp"
#include "tests/regrouping/support.hpp"

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
          test::listing(simt::replay_warp(segments, plan_.shaders(), assignment, warp, simt::Policy::StageMajority), 4);
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

}  // namespace
}  // namespace rayreplay
