// The ordering rules and tie breaks of MODELS.md §6 on launches written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/scheduler-models/support.hpp"

namespace rayreplay::scheduler::test {
namespace {

using rayreplay::test::LaunchBuilder;
using testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// One warp for each thread in order, all of tile 0, so that a swizzle shows the sorted order itself.
WarpAssignment single_lanes(const trace::Launch& launch, std::initializer_list<std::uint32_t> start_rank = {}) {
  WarpAssignment result = assign("linear", launch, 1);
  if (start_rank.size() != 0) {
    result.start_rank = start_rank;
  }
  return result;
}

TEST(Identity, KeepsEveryThread) {
  const trace::Launch launch = empty_launch({5, 1, 1});
  EXPECT_THAT(pack("identity", launch, single_lanes(launch, {4, 3, 2, 1, 0})), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Random, DependsOnSeedAndThreadsAlone) {
  const trace::Launch launch = empty_launch({64, 4, 1});
  const WarpAssignment linear = assign("linear", launch, 32);
  EXPECT_EQ(pack("random", launch, linear), pack("random:seed=1", launch, linear));
  EXPECT_NE(pack("random", launch, linear), pack("random:seed=2", launch, linear));
  EXPECT_NE(pack("random", launch, linear), pack("identity", launch, linear));
}

TEST(Random, TiledKeepsThreadsInsideTheirTile) {
  const trace::Launch launch = empty_launch({4, 2, 1});
  const WarpAssignment assignment = assign("z-order:tile=2x2,warp=1x1", launch, 1);
  const Swizzle swizzle = pack("random:tiled=true", launch, assignment);
  for (std::uint32_t thread = 0; thread < swizzle.size(); ++thread) {
    EXPECT_EQ(swizzle[thread] % 4 / 2, thread % 4 / 2);
  }
}

TEST(NumRays, Ascending) {
  LaunchBuilder b({4, 1, 1});
  b.thread().begin(0).begin(0).begin(0);
  b.thread().begin(0);
  b.thread();
  b.thread().begin(0).occlusion_begin(0);
  const trace::Launch launch = b.build();
  EXPECT_THAT(pack("numrays", launch, single_lanes(launch)), ElementsAre(2, 1, 3, 0));
}

TEST(NumRays, TiesGoByTheOrderInWhichWarpsStart) {
  const trace::Launch launch = empty_launch({4, 1, 1});
  EXPECT_THAT(pack("numrays", launch, single_lanes(launch, {2, 0, 3, 1})), ElementsAre(1, 3, 0, 2));
}

TEST(NumRays, TiesInsideAWarpKeepTheLanes) {
  // Threads 2 and 3 are in the warp that starts first.
  const trace::Launch launch = empty_launch({4, 1, 1});
  WarpAssignment assignment = assign("linear", launch, 2);
  assignment.start_rank = {1, 0};
  EXPECT_THAT(pack("numrays", launch, assignment), ElementsAre(2, 3, 0, 1));
}

TEST(NumRays, PlacesAreTakenInRowMajorOrderOfWarps) {
  // 2×2 warps in a 4×2 launch: places are threads 0 1 4 5, then 2 3 6 7.
  LaunchBuilder b({4, 2, 1});
  for (int thread = 0; thread < 8; ++thread) {
    b.thread();
    for (int ray = 0; ray < 8 - thread; ++ray) {
      b.begin(0);
    }
  }
  const trace::Launch launch = b.build();
  // Sorted: 7 6 5 4 3 2 1 0.
  EXPECT_THAT(pack("numrays", launch, assign("linear:warp=2x2", launch, 4)), ElementsAre(7, 6, 3, 2, 5, 4, 1, 0));
  // One tile a warp: sorted 5 4 1 0 and 7 6 3 2.
  EXPECT_THAT(pack("tiled-numrays", launch, assign("z-order:warp=2x2,tile=2x2", launch, 4)),
              ElementsAre(5, 4, 7, 6, 1, 0, 3, 2));
}

TEST(Objects, TheFirstDifferenceDecidesInstanceBeforePrimitive) {
  LaunchBuilder b({5, 1, 1});
  b.thread().begin(0).intersection(1, 1, 0);
  b.thread().begin(0).intersection(1, 0, 9);
  b.thread().begin(0).intersection(1, 0, 2).closest_hit(2, 5, 5);
  b.thread().begin(0).intersection(1, 0, 2).closest_hit(2, 5, 4);
  b.thread().begin(0).intersection(1, 0, 2).closest_hit(2, 4, 9);
  const trace::Launch launch = b.build();
  EXPECT_THAT(pack("objects", launch, single_lanes(launch)), ElementsAre(4, 3, 2, 1, 0));
}

TEST(Objects, TheLongerOfTwoListsThatBeginAlikeGoesFirst) {
  LaunchBuilder b({4, 1, 1});
  b.thread().begin(0).miss(3);
  b.thread().begin(0).intersection(1, 7, 7);
  b.thread().begin(0).intersection(1, 7, 7).intersection(1, 9, 9);
  b.thread().begin(0).intersection(1, 7, 7).intersection(1, 9, 9).intersection(1, 0, 0);
  const trace::Launch launch = b.build();
  EXPECT_THAT(pack("objects", launch, single_lanes(launch)), ElementsAre(3, 2, 1, 0));
}

TEST(Objects, EachMeetingCountsAndReportsDoNot) {
  LaunchBuilder b({3, 1, 1});
  b.thread().begin(0).intersection(1, 2, 2).miss(3);
  b.thread().begin(0).intersection(1, 2, 2).report(1, 0, 0).closest_hit(4, 2, 2);
  b.thread().begin(0).intersection(1, 2, 2).report(1, 0, 0).any_hit(5, 2, 2).closest_hit(4, 2, 2);
  const trace::Launch launch = b.build();
  EXPECT_THAT(pack("objects", launch, single_lanes(launch)), ElementsAre(2, 1, 0));
}

TEST(Objects, ListsGoOnAcrossRays) {
  LaunchBuilder b({2, 1, 1});
  b.thread().begin(0).closest_hit(1, 1, 1).begin(0).closest_hit(1, 3, 0);
  b.thread().begin(0).closest_hit(1, 1, 1).begin(0).closest_hit(1, 2, 0);
  const trace::Launch launch = b.build();
  EXPECT_THAT(pack("objects", launch, single_lanes(launch)), ElementsAre(1, 0));
}

TEST(Objects, TiesGoByTheOrderInWhichWarpsStart) {
  LaunchBuilder b({4, 1, 1});
  for (int thread = 0; thread < 4; ++thread) {
    // Another number of rays is no difference.
    b.thread();
    for (int ray = 0; ray < thread; ++ray) {
      b.begin(0).miss(3);
    }
    b.begin(0).closest_hit(1, 6, 6);
  }
  const trace::Launch launch = b.build();
  EXPECT_THAT(pack("objects", launch, single_lanes(launch, {2, 0, 3, 1})), ElementsAre(1, 3, 0, 2));
}

TEST(Objects, TheLargestIdsAreOrderedToo) {
  constexpr std::uint32_t kLargest = 0xFFFF'FFFF;
  LaunchBuilder b({5, 1, 1});
  b.thread().begin(0).miss(1);
  b.thread().begin(0).intersection(1, kLargest, kLargest);
  b.thread().begin(0).intersection(1, kLargest, kLargest).intersection(1, 0, 0);
  b.thread().begin(0).intersection(1, kLargest, 0);
  b.thread().begin(0).intersection(1, 0, kLargest);
  const trace::Launch launch = b.build();
  EXPECT_THAT(pack("objects", launch, single_lanes(launch)), ElementsAre(4, 3, 2, 1, 0));
}

TEST(OriginMorton, FollowsTheCurveWithRaylessThreadsLast) {
  LaunchBuilder b({8, 1, 1});
  b.thread().begin(0, kNan, 0, 0);
  b.thread();
  b.thread().begin(0, 1, 1, 1);
  b.thread().begin(0, 0, 0, 1);
  b.thread().begin(0, 0, 1, 0);
  b.thread().begin(0, 1, 0, 0);
  b.thread().begin(0, 0, 0, 0);
  b.thread().begin(0, 0, kInfinity, 0);
  const trace::Launch launch = b.build();
  EXPECT_THAT(pack("origin-morton:bits=1", launch, single_lanes(launch)), ElementsAre(6, 5, 4, 3, 2, 0, 1, 7));
}

TEST(OriginMorton, ReadsTheRayAskedFor) {
  LaunchBuilder b({3, 1, 1});
  b.thread().begin(0, 0).begin(0, 9);
  b.thread().begin(0, 5);
  b.thread().begin(0, 9).begin(0, 0);
  const trace::Launch launch = b.build();
  EXPECT_THAT(pack("origin-morton", launch, single_lanes(launch)), ElementsAre(0, 1, 2));
  EXPECT_THAT(pack("origin-morton:ray=1", launch, single_lanes(launch)), ElementsAre(2, 0, 1));
}

TEST(OriginHilbert, NeighboursOnTheCurveAreNeighboursInSpace) {
  // The first four cells of the curve through 2×2 cells in x and y: a U, where Morton jumps along the diagonal.
  LaunchBuilder b({4, 1, 1});
  b.thread().begin(0, 0, 0, 0);
  b.thread().begin(0, 1, 0, 0);
  b.thread().begin(0, 0, 1, 0);
  b.thread().begin(0, 1, 1, 0);
  const trace::Launch launch = b.build();
  const Swizzle hilbert = pack("origin-hilbert:bits=1", launch, single_lanes(launch));
  for (std::size_t i = 1; i < hilbert.size(); ++i) {
    const std::uint32_t changed = hilbert[i] ^ hilbert[i - 1];
    EXPECT_TRUE(changed == 1 || changed == 2) << i;
  }
  EXPECT_THAT(pack("origin-morton:bits=1", launch, single_lanes(launch)), ElementsAre(0, 1, 2, 3));
}

TEST(DirectionMorton, LengthDoesNotMatterAndDirectionlessThreadsGoLast) {
  LaunchBuilder b({6, 1, 1});
  b.thread().begin(0, 0, 0, 0, 0, 0, 0);
  b.thread().begin(0, 0, 0, 0, 5, 5, 1);
  b.thread().begin(0, 0, 0, 0, -1, -1, 1);
  b.thread().begin(0, 0, 0, 0, kNan, 0, 1);
  b.thread().begin(0, 0, 0, 0, -1e30F, -1e30F, 1e30F);
  b.thread().begin(0, 0, 0, 0, 1, -1, 0);
  const trace::Launch launch = b.build();
  EXPECT_THAT(pack("direction-morton:bits=1", launch, single_lanes(launch)), ElementsAre(2, 4, 5, 1, 0, 3));
}

TEST(DirectionHilbert, TheLowerHalfFoldsOutwards) {
  // Straight up is the centre of the square, straight down its corners; the equator is the diamond between.
  LaunchBuilder b({3, 1, 1});
  b.thread().begin(0, 0, 0, 0, -0.1F, -0.1F, -1);
  b.thread().begin(0, 0, 0, 0, -0.1F, -0.1F, 1);
  b.thread().begin(0, 0, 0, 0, -1, -1, 0.1F);
  const trace::Launch launch = b.build();
  // Two bits an axis: the corner cell is the first on the curve, the cell beside the centre the third.
  EXPECT_THAT(pack("direction-hilbert:bits=2", launch, single_lanes(launch)), ElementsAre(0, 1, 2));
  EXPECT_THAT(pack("direction-morton:bits=2", launch, single_lanes(launch)), ElementsAre(0, 1, 2));
}

TEST(OriginDirectionMorton, TheDirectionDecidesOnTopOfTheOrigin) {
  LaunchBuilder b({6, 1, 1});
  b.thread().begin(0, 9, 0, 0, 1, 1, 1);    // far origin, direction of the upper cell
  b.thread().begin(0, 0, 0, 0, 1, 1, 1);    // near origin, the same direction
  b.thread().begin(0, 9, 0, 0, -1, -1, 1);  // far origin, direction of the lower cell
  b.thread().begin(0, 0, 0, 0, -1, -1, 1);  // near origin, direction of the lower cell
  b.thread().begin(0, 0, 0, 0, 0, 0, 0);    // no direction
  b.thread().begin(0, kNan, 0, 0, -1, -1, 1);
  const trace::Launch launch = b.build();
  EXPECT_THAT(pack("origin-direction-morton:bits=1", launch, single_lanes(launch)), ElementsAre(3, 2, 1, 0, 4, 5));
}

TEST(FirstHitShader, TheFirstEndDecides) {
  LaunchBuilder b({5, 1, 1});
  b.thread().begin(0).intersection(1).closest_hit(9).begin(0).miss(1);
  b.thread().begin(0).miss(5).begin(0).closest_hit(2);
  b.thread();
  b.thread().begin(0).closest_hit(4);
  b.thread().begin(0).miss(5);
  const trace::Launch launch = b.build();
  EXPECT_THAT(pack("first-hit-shader", launch, single_lanes(launch, {0, 4, 2, 3, 1})), ElementsAre(3, 4, 1, 0, 2));
}

TEST(ShaderSequence, KindBeforeShaderAndTheShorterFirst) {
  LaunchBuilder b({6, 1, 1});
  b.thread().begin(0).closest_hit(1);
  b.thread().begin(0).miss(9);
  b.thread().begin(0).intersection(3).report(3).miss(9);
  b.thread().begin(0).intersection(2).miss(9);
  b.thread();
  b.thread().begin(0).intersection(3).miss(9);
  const trace::Launch launch = b.build();
  // Threads 2 and 5 make the same calls: a report is none.
  EXPECT_THAT(pack("shader-sequence", launch, single_lanes(launch)), ElementsAre(4, 3, 2, 5, 1, 0));
}

}  // namespace
}  // namespace rayreplay::scheduler::test
