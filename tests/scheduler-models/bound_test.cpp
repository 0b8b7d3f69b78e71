// The lower bound: the sum itself, and that nothing gets below it.
#include "scheduler-models/bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "sim/simt/reference/replay_reference.hpp"
#include "tests/scheduler-models/support.hpp"

namespace rayreplay::scheduler::test {
namespace {

using rayreplay::test::LaunchBuilder;

std::vector<trace::Shader> shaders() {
  return std::vector<trace::Shader>(10);  // shader 0, the only one that begins rays, is ray generation
}

std::uint64_t warp_events(const trace::Launch& launch, const WarpAssignment& assignment, simt::Policy policy) {
  std::uint64_t sum = 0;
  for (std::size_t warp = 0; warp < assignment.warps(); ++warp) {
    sum += simt::replay_warp_reference(launch, shaders(), assignment, warp, policy).size();
  }
  return sum;
}

TEST(LowerBound, SumsOverCallsRoundedUp) {
  LaunchBuilder b({4, 1, 1});
  b.thread().begin(0).intersection(1).miss(3);
  b.thread().begin(0).intersection(1).intersection(2).closest_hit(4);
  b.thread().begin(0).intersection(2).closest_hit(4);
  b.thread().begin(0).intersection(2).report(2).closest_hit(4);
  const Bound in_fours = lower_bound(b.build(), 4);
  EXPECT_EQ(in_fours.calls, 13U);
  EXPECT_EQ(in_fours.warp_events, 5U);
  EXPECT_DOUBLE_EQ(in_fours.efficiency, 0.65);
  const Bound in_twos = lower_bound(b.build(), 2);
  EXPECT_EQ(in_twos.warp_events, 2U + 1U + 2U + 1U + 2U);
  EXPECT_DOUBLE_EQ(in_twos.efficiency, 13.0 / 16.0);
}

TEST(LowerBound, OneShaderCalledInTwoWaysIsTwoCalls) {
  LaunchBuilder b({2, 1, 1});
  b.thread().begin(0);
  b.thread().occlusion_begin(0);
  EXPECT_EQ(lower_bound(b.build(), 32).warp_events, 2U);
}

TEST(LowerBound, NoCallsNeedNoEvents) {
  const Bound bound = lower_bound(empty_launch({8, 8, 1}), 32);
  EXPECT_EQ(bound.warp_events, 0U);
  EXPECT_EQ(bound.calls, 0U);
  EXPECT_EQ(bound.efficiency, 0.0);
}

TEST(LowerBound, WarpSizesOutOfRangeAreUsageErrors) {
  EXPECT_EQ(error_of([] { (void)lower_bound(empty_launch({1, 1, 1}), 0); }).kind(), ErrorKind::Usage);
  EXPECT_EQ(error_of([] { (void)lower_bound(empty_launch({1, 1, 1}), 65); }).kind(), ErrorKind::Usage);
}

TEST(LowerBound, NoAssignmentOfTinyLaunchesGetsBelow) {
  RandomLaunch random(3, {0});
  for (int round = 0; round < 6; ++round) {
    const trace::Launch launch = random({6, 1, 1});
    for (const std::uint32_t warp_size : {2U, 3U}) {
      WarpAssignment assignment = assign("linear", launch, warp_size);
      std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
      std::sort(assignment.thread_at.begin(), assignment.thread_at.end());
      do {
        fewest = std::min(fewest, warp_events(launch, assignment, simt::Policy::StageMajority));
      } while (std::next_permutation(assignment.thread_at.begin(), assignment.thread_at.end()));
      EXPECT_LE(lower_bound(launch, warp_size).warp_events, fewest);
    }
  }
}

TEST(LowerBound, IsReachedWhenThreadsComeInEqualWarpfuls) {
  // Four threads of each of two kinds, interleaved: objects sorts them apart.
  LaunchBuilder b({8, 1, 1});
  for (std::uint32_t thread = 0; thread < 8; ++thread) {
    const auto hit = static_cast<std::uint16_t>(5 + thread % 2);
    b.thread().begin(0).intersection(1, thread % 2).closest_hit(hit, thread % 2);
  }
  const trace::Launch launch = b.build();
  const WarpAssignment linear = assign("linear", launch, 4);
  EXPECT_EQ(lower_bound(launch, 4).warp_events, 6U);
  EXPECT_EQ(warp_events(launch, linear, simt::Policy::StageMajority), 8U);
  EXPECT_EQ(warp_events(launch, scheduler::apply(linear, pack("objects", launch, linear)), simt::Policy::StageMajority),
            6U);
}

TEST(LowerBound, NoPackingUnderAnyPolicyGetsBelow) {
  RandomLaunch random(4, {0, 1, 2});
  const trace::Launch launch = random({21, 13, 1});
  for (const std::uint32_t warp_size : {1U, 8U, 32U, 64U}) {
    const WarpAssignment assignment = assign("z-order", launch, warp_size);
    const Bound bound = lower_bound(launch, warp_size);
    for (const std::string& name : Packings::names()) {
      const WarpAssignment packed = scheduler::apply(assignment, pack(name, launch, assignment));
      for (const simt::Policy policy : {simt::Policy::StageMajority, simt::Policy::MinShader, simt::Policy::OldestLane,
                                        simt::Policy::Independent}) {
        EXPECT_GE(warp_events(launch, packed, policy), bound.warp_events) << name << ", warps of " << warp_size;
      }
    }
    if (warp_size == 1) {
      EXPECT_EQ(warp_events(launch, assignment, simt::Policy::OldestLane), bound.warp_events);
    }
  }
}

}  // namespace
}  // namespace rayreplay::scheduler::test
