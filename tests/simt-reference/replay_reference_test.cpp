// The slow replayer against warp events worked out by hand.
#include "sim/simt/reference/replay_reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/launch_builder.hpp"

namespace rayreplay::simt {
namespace {

using test::LaunchBuilder;
using testing::ElementsAre;
using trace::EventKind;
using trace::ShaderStage;

constexpr std::uint16_t kRaygen = 0;
constexpr std::uint16_t kInt1 = 1;
constexpr std::uint16_t kInt2 = 2;
constexpr std::uint16_t kMiss = 3;
constexpr std::uint16_t kChit = 4;
constexpr std::uint16_t kAnyHit = 5;

std::vector<trace::Shader> shaders() {
  std::vector<trace::Shader> result(6);
  result[kRaygen].stage = ShaderStage::RayGeneration;
  result[kInt1].stage = ShaderStage::Intersection;
  result[kInt2].stage = ShaderStage::Intersection;
  result[kMiss].stage = ShaderStage::Miss;
  result[kChit].stage = ShaderStage::ClosestHit;
  result[kAnyHit].stage = ShaderStage::AnyHit;
  return result;
}

/// One warp of the launch's threads in order, its last lanes empty.
scheduler::WarpAssignment one_warp(std::uint32_t threads, std::uint32_t warp_size) {
  scheduler::WarpAssignment result;
  result.warp_size = warp_size;
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
    result.thread_at.push_back(lane < threads ? lane : scheduler::kNoThread);
  }
  result.start_rank.push_back(0);
  result.tile.push_back(0);
  return result;
}

std::vector<WarpEvent> replay(const trace::Launch& launch, Policy policy, std::uint32_t warp_size = 4) {
  return replay_warp_reference(launch, shaders(), one_warp(launch.size.width, warp_size), 0, policy);
}

/// Masks written lane 0 first, as in MODELS.md §4.
WarpEvent event(EventKind kind, std::uint16_t shader, const std::string& lanes) {
  WarpEvent result{kind, shader, 0};
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    result.mask |= std::uint64_t{lanes[lane] == '1'} << lane;
  }
  return result;
}

trace::Launch published_example() {
  LaunchBuilder b({4, 1, 1});
  b.thread().begin(kRaygen).intersection(kInt1).miss(kMiss);
  b.thread().begin(kRaygen).intersection(kInt1).intersection(kInt2).closest_hit(kChit);
  b.thread().begin(kRaygen).intersection(kInt2).closest_hit(kChit);
  b.thread().begin(kRaygen).intersection(kInt2).closest_hit(kChit);
  return b.build();
}

TEST(ReplayReference, PublishedExample) {
  const std::vector<WarpEvent> events = replay(published_example(), Policy::StageMajority);
  // int1 and int2 have two lanes each at first: the tie goes to the lower shader id. Of miss (1 lane) and closest hit
  // (3 lanes) the majority goes first.
  EXPECT_THAT(events,
              ElementsAre(event(EventKind::Begin, kRaygen, "1111"), event(EventKind::Intersection, kInt1, "1100"),
                          event(EventKind::Intersection, kInt2, "0111"), event(EventKind::ClosestHit, kChit, "0111"),
                          event(EventKind::Miss, kMiss, "1000")));
  int active = 0;
  for (const WarpEvent& e : events) {
    active += std::popcount(e.mask);
  }
  EXPECT_EQ(active, 13);
}

TEST(ReplayReference, MinShaderTakesTheLowestKindThenShader) {
  EXPECT_THAT(replay(published_example(), Policy::MinShader),
              ElementsAre(event(EventKind::Begin, kRaygen, "1111"), event(EventKind::Intersection, kInt1, "1100"),
                          event(EventKind::Intersection, kInt2, "0111"), event(EventKind::Miss, kMiss, "1000"),
                          event(EventKind::ClosestHit, kChit, "0111")));
}

TEST(ReplayReference, MinShaderLetsAHigherShaderOfALowerKindGoFirst) {
  LaunchBuilder b({2, 1, 1});
  b.thread().begin(kRaygen).miss(kMiss);
  b.thread().begin(kRaygen).any_hit(kAnyHit).miss(kMiss);
  EXPECT_THAT(replay(b.build(), Policy::MinShader, 2),
              ElementsAre(event(EventKind::Begin, kRaygen, "11"), event(EventKind::AnyHit, kAnyHit, "01"),
                          event(EventKind::Miss, kMiss, "11")));
}

TEST(ReplayReference, StageMajorityPrefersTraversalOverMoreLanesElsewhere) {
  LaunchBuilder b({3, 1, 1});
  b.thread().begin(kRaygen).miss(kMiss);
  b.thread().begin(kRaygen).miss(kMiss);
  b.thread().begin(kRaygen).any_hit(kAnyHit).miss(kMiss);
  EXPECT_THAT(replay(b.build(), Policy::StageMajority),
              ElementsAre(event(EventKind::Begin, kRaygen, "1110"), event(EventKind::AnyHit, kAnyHit, "0010"),
                          event(EventKind::Miss, kMiss, "1110")));
}

TEST(ReplayReference, StageMajorityTieGoesToTheLowerShaderThenTheLowerKind) {
  // One lane each: closest hit 1 (shader ids are free in the replayer) before occlusion-begin 2 before callable 2.
  LaunchBuilder b({3, 1, 1});
  b.thread().callable(2);
  b.thread().occlusion_begin(2);
  b.thread().closest_hit(1);
  EXPECT_THAT(replay(b.build(), Policy::StageMajority),
              ElementsAre(event(EventKind::ClosestHit, 1, "0010"), event(EventKind::OcclusionBegin, 2, "0100"),
                          event(EventKind::Callable, 2, "1000")));
}

TEST(ReplayReference, OldestLaneTakesTheLanePoppedLeastRecently) {
  LaunchBuilder b({2, 1, 1});
  b.thread().begin(kRaygen).intersection(kInt1).intersection(kInt1).miss(kMiss);
  b.thread().begin(kRaygen).miss(kMiss);
  // After the common begin lane 0 is the lowest of equals; then lane 1 has waited longer, then only lane 0 is left.
  EXPECT_THAT(replay(b.build(), Policy::OldestLane, 2),
              ElementsAre(event(EventKind::Begin, kRaygen, "11"), event(EventKind::Intersection, kInt1, "10"),
                          event(EventKind::Miss, kMiss, "01"), event(EventKind::Intersection, kInt1, "10"),
                          event(EventKind::Miss, kMiss, "10")));
}

TEST(ReplayReference, OldestLaneTakesAlongEveryLaneWithThatHead) {
  LaunchBuilder b({3, 1, 1});
  b.thread().begin(kRaygen).miss(kMiss);
  b.thread().begin(kRaygen).intersection(kInt1).miss(kMiss);
  b.thread().begin(kRaygen).miss(kMiss).begin(kRaygen).miss(kMiss);
  EXPECT_THAT(replay(b.build(), Policy::OldestLane),
              ElementsAre(event(EventKind::Begin, kRaygen, "1110"), event(EventKind::Miss, kMiss, "1010"),
                          event(EventKind::Intersection, kInt1, "0100"), event(EventKind::Begin, kRaygen, "0010"),
                          event(EventKind::Miss, kMiss, "0110")));
}

TEST(ReplayReference, IndependentDoesNotRegroupBeforeRayGeneration) {
  // Lanes 1, 2 and 3 part at int1 and stay apart though they make the same calls later.
  EXPECT_THAT(replay(published_example(), Policy::Independent),
              ElementsAre(event(EventKind::Begin, kRaygen, "1111"), event(EventKind::Intersection, kInt1, "1100"),
                          event(EventKind::Miss, kMiss, "1000"), event(EventKind::Intersection, kInt2, "0100"),
                          event(EventKind::ClosestHit, kChit, "0100"), event(EventKind::Intersection, kInt2, "0011"),
                          event(EventKind::ClosestHit, kChit, "0011")));
}

TEST(ReplayReference, IndependentRegroupsInRayGenerationAmongTheLiving) {
  LaunchBuilder b({3, 1, 1});
  b.thread().begin(kRaygen).intersection(kInt1).miss(kMiss).begin(kRaygen).miss(kMiss);
  b.thread().begin(kRaygen).miss(kMiss);  // ends early and is not waited for
  b.thread().begin(kRaygen).miss(kMiss).begin(kRaygen).miss(kMiss);
  EXPECT_THAT(replay(b.build(), Policy::Independent),
              ElementsAre(event(EventKind::Begin, kRaygen, "1110"), event(EventKind::Intersection, kInt1, "1000"),
                          event(EventKind::Miss, kMiss, "1000"), event(EventKind::Miss, kMiss, "0110"),
                          event(EventKind::Begin, kRaygen, "1010"), event(EventKind::Miss, kMiss, "1010")));
}

TEST(ReplayReference, IndependentDoesNotWaitAtTraceCallsOfOtherStages) {
  LaunchBuilder b({2, 1, 1});
  b.thread().begin(kRaygen).intersection(kInt1).closest_hit(kChit).begin(kChit).miss(kMiss);
  b.thread().begin(kRaygen).closest_hit(kChit).begin(kChit).miss(kMiss);
  EXPECT_THAT(replay(b.build(), Policy::Independent, 2),
              ElementsAre(event(EventKind::Begin, kRaygen, "11"), event(EventKind::Intersection, kInt1, "10"),
                          event(EventKind::ClosestHit, kChit, "10"), event(EventKind::Begin, kChit, "10"),
                          event(EventKind::Miss, kMiss, "10"), event(EventKind::ClosestHit, kChit, "01"),
                          event(EventKind::Begin, kChit, "01"), event(EventKind::Miss, kMiss, "01")));
}

TEST(ReplayReference, IndependentSplitsDifferentTraceCallsThatHaveMet) {
  LaunchBuilder b({2, 1, 1});
  b.thread().begin(kRaygen).miss(kMiss).begin(kRaygen).miss(kMiss);
  b.thread().occlusion_begin(kRaygen).miss(kMiss).begin(kRaygen).miss(kMiss);
  EXPECT_THAT(replay(b.build(), Policy::Independent, 2),
              ElementsAre(event(EventKind::Begin, kRaygen, "10"), event(EventKind::Miss, kMiss, "10"),
                          event(EventKind::OcclusionBegin, kRaygen, "01"), event(EventKind::Miss, kMiss, "01"),
                          event(EventKind::Begin, kRaygen, "11"), event(EventKind::Miss, kMiss, "11")));
}

TEST(ReplayReference, EventsThatAreNoCallsAndLanesWithoutThreadsTakeNoPart) {
  LaunchBuilder b({2, 1, 1});
  b.thread().begin(kRaygen).intersection(kInt1).report(kInt1).any_hit(kAnyHit).ignore(kAnyHit).miss(kMiss);
  b.thread();
  const trace::Launch launch = b.build();
  for (const Policy policy : {Policy::StageMajority, Policy::MinShader, Policy::OldestLane, Policy::Independent}) {
    EXPECT_THAT(replay(launch, policy, 64),
                ElementsAre(event(EventKind::Begin, kRaygen, "1"), event(EventKind::Intersection, kInt1, "1"),
                            event(EventKind::AnyHit, kAnyHit, "1"), event(EventKind::Miss, kMiss, "1")));
  }
}

TEST(ReplayReference, TheLastOf64LanesHasTheLastBit) {
  LaunchBuilder b({64, 1, 1});
  for (int i = 0; i < 63; ++i) {
    b.thread();
  }
  b.thread().begin(kRaygen);
  const std::vector<WarpEvent> events = replay(b.build(), Policy::Independent, 64);
  EXPECT_THAT(events, ElementsAre(WarpEvent{EventKind::Begin, kRaygen, std::uint64_t{1} << 63}));
}

TEST(ReplayReference, ReadsTheWarpAskedFor) {
  scheduler::WarpAssignment assignment;
  assignment.warp_size = 2;
  assignment.thread_at = {3, 1, 0, 2};
  assignment.start_rank = {0, 1};
  assignment.tile = {0, 0};
  const trace::Launch launch = published_example();
  EXPECT_THAT(replay_warp_reference(launch, shaders(), assignment, 1, Policy::StageMajority),
              ElementsAre(event(EventKind::Begin, kRaygen, "11"), event(EventKind::Intersection, kInt1, "10"),
                          event(EventKind::Intersection, kInt2, "01"), event(EventKind::Miss, kMiss, "10"),
                          event(EventKind::ClosestHit, kChit, "01")));
}

}  // namespace
}  // namespace rayreplay::simt
