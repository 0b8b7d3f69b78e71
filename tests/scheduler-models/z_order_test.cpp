// The Z-order model: the published tile sizes and the order of quadrants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "scheduler-models/observed_tiles.hpp"
#include "tests/scheduler-models/support.hpp"

namespace rayreplay::scheduler::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Box {
  std::uint32_t left = 0xFFFF'FFFF, top = 0xFFFF'FFFF, right = 0, bottom = 0;
  void add(std::uint32_t x, std::uint32_t y) {
    left = std::min(left, x);
    top = std::min(top, y);
    right = std::max(right, x + 1);
    bottom = std::max(bottom, y + 1);
  }
};

std::map<std::uint32_t, Box> boxes(const WarpAssignment& assignment, trace::LaunchSize size, bool of_tiles) {
  std::map<std::uint32_t, Box> result;
  for (std::size_t place = 0; place < assignment.thread_at.size(); ++place) {
    const std::uint32_t thread = assignment.thread_at[place];
    if (thread != kNoThread) {
      const auto warp = static_cast<std::uint32_t>(place / assignment.warp_size);
      result[of_tiles ? assignment.tile[warp] : warp].add(thread % size.width, thread / size.width);
    }
  }
  return result;
}

/// Row-major index of the warps in the order in which they start.
std::vector<std::uint32_t> started(const WarpAssignment& assignment) {
  std::vector<std::uint32_t> result(assignment.warps());
  for (std::uint32_t warp = 0; warp < result.size(); ++warp) {
    result[assignment.start_rank[warp]] = warp;
  }
  return result;
}

struct Published {
  std::uint32_t width, height;
  Extent tile;
};

// MODELS.md §5, copied here by hand so that a slip in the program's table shows.
const std::vector<Published> kPublished{
    {256, 256, {256, 256}},   {2048, 2048, {2048, 2048}}, {1024, 500, {256, 512}}, {1024, 512, {512, 512}},
    {1024, 520, {32, 32}},    {1280, 720, {256, 256}},    {1600, 900, {32, 32}},   {1920, 1080, {256, 256}},
    {2560, 1440, {512, 512}}, {3840, 2160, {512, 512}},
};

TEST(ZOrder, EveryPublishedLaunchSizeHasItsTile) {
  EXPECT_EQ(observed_tiles().size(), kPublished.size());
  for (const Published& published : kPublished) {
    SCOPED_TRACE(std::to_string(published.width) + "x" + std::to_string(published.height));
    const trace::LaunchSize size{published.width, published.height, 1};
    trace::Launch launch;
    launch.size = size;
    const auto tiles = boxes(assign("z-order", launch, 32), size, true);
    const std::uint32_t columns = (size.width + published.tile.width - 1) / published.tile.width;
    const std::uint32_t rows = (size.height + published.tile.height - 1) / published.tile.height;
    ASSERT_EQ(tiles.size(), columns * rows);
    for (const auto& [tile, box] : tiles) {
      const std::uint32_t left = tile % columns * published.tile.width;
      const std::uint32_t top = tile / columns * published.tile.height;
      EXPECT_EQ(box.left, left);
      EXPECT_EQ(box.top, top);
      EXPECT_EQ(box.right, std::min(left + published.tile.width, size.width));
      EXPECT_EQ(box.bottom, std::min(top + published.tile.height, size.height));
    }
  }
}

TEST(ZOrder, WarpsAreEightByFourAndUprightAt1024By500) {
  trace::Launch launch;
  launch.size = {1280, 720, 1};
  Box box = boxes(assign("z-order", launch, 32), launch.size, false).at(0);
  EXPECT_EQ(box.right, 8U);
  EXPECT_EQ(box.bottom, 4U);
  launch.size = {1024, 500, 1};
  box = boxes(assign("z-order", launch, 32), launch.size, false).at(0);
  EXPECT_EQ(box.right, 4U);
  EXPECT_EQ(box.bottom, 8U);
}

TEST(ZOrder, PowerOfTwoSizesHaveSquareTilesOfTheShorterSide) {
  EXPECT_EQ(observed_z_order(512, 128).tile, (Extent{128, 128}));
  EXPECT_EQ(observed_z_order(64, 4096).tile, (Extent{64, 64}));
  EXPECT_EQ(observed_z_order(4096, 4096).tile, (Extent{4096, 4096}));
  EXPECT_EQ(observed_z_order(640, 480).tile, (Extent{32, 32}));
}

// 4×4 warps of one thread in one tile; warps by row-major index:
//    0  1  2  3
//    4  5  6  7
//    8  9 10 11
//   12 13 14 15
TEST(ZOrder, Quadrants2314VisitUpperLeftLowerLeftUpperRightLowerRight) {
  EXPECT_THAT(started(assign("z-order:tile=4x4,quadrants=2-3-1-4", empty_launch({4, 4, 1}), 1)),
              ElementsAre(0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15));
}

TEST(ZOrder, Quadrants2134VisitTheLetterZ) {
  EXPECT_THAT(started(assign("z-order:tile=4x4,quadrants=2-1-3-4", empty_launch({4, 4, 1}), 1)),
              ElementsAre(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15));
}

TEST(ZOrder, AnyOrderOfQuadrants) {
  EXPECT_THAT(started(assign("z-order:tile=2x2,quadrants=1-2-3-4", empty_launch({2, 2, 1}), 1)),
              ElementsAre(1, 0, 2, 3));
  EXPECT_THAT(started(assign("z-order:tile=2x2,quadrants=4-3-2-1", empty_launch({2, 2, 1}), 1)),
              ElementsAre(3, 2, 0, 1));
}

TEST(ZOrder, AutoTakesTheObservedQuadrants) {
  trace::Launch launch;
  launch.size = {1280, 720, 1};
  EXPECT_EQ(assign("z-order", launch, 32).start_rank, assign("z-order:quadrants=2-3-1-4", launch, 32).start_rank);
  EXPECT_NE(assign("z-order", launch, 32).start_rank, assign("z-order:quadrants=2-1-3-4", launch, 32).start_rank);
  launch.size = {1024, 500, 1};
  EXPECT_EQ(assign("z-order", launch, 32).start_rank, assign("z-order:quadrants=2-1-3-4", launch, 32).start_rank);
  EXPECT_NE(assign("z-order", launch, 32).start_rank, assign("z-order:quadrants=2-3-1-4", launch, 32).start_rank);
}

TEST(ZOrder, SquaresOfPixelsHoldTwoWarpsOneAboveTheOther) {
  // A 16×16 tile of 8×4 warps: two columns, four rows. Quadrants are 8×8 pixels: upper left, lower left, …
  //   0 1
  //   2 3
  //   4 5
  //   6 7
  EXPECT_THAT(started(assign("z-order:tile=16x16", empty_launch({16, 16, 1}), 32)),
              ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_THAT(started(assign("z-order:tile=16x16,quadrants=2-1-3-4", empty_launch({16, 16, 1}), 32)),
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
}

TEST(ZOrder, TilesAreRowMajorAndCutOffAtTheEdges) {
  // 3×3 warps in 2×2 tiles; warps by row-major index, tiles by number:
  //   0 1 | 2      0 0 1
  //   3 4 | 5      0 0 1
  //   ----+--
  //   6 7 | 8      2 2 3
  const WarpAssignment result = assign("z-order:tile=2x2", empty_launch({3, 3, 1}), 1);
  EXPECT_THAT(started(result), ElementsAre(0, 3, 1, 4, 2, 5, 6, 7, 8));
  EXPECT_THAT(result.tile, ElementsAre(0, 0, 1, 0, 0, 1, 2, 2, 3));
}

TEST(ZOrder, SlicesFollowEachOtherWithTilesOfTheirOwn) {
  const WarpAssignment result = assign("z-order:tile=2x2", empty_launch({2, 2, 2}), 1);
  EXPECT_THAT(started(result), ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  EXPECT_THAT(result.tile, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST(ZOrder, OneDimensionalLaunchesAreInOrder) {
  const WarpAssignment result = assign("z-order", empty_launch({4096, 1, 1}), 32);
  EXPECT_TRUE(std::is_sorted(result.start_rank.begin(), result.start_rank.end()));
  EXPECT_EQ(result.warps(), 128U);
}

TEST(ZOrder, WrongParametersAreUsageErrors) {
  const trace::Launch launch = empty_launch({64, 64, 1});
  for (const char* quadrants : {"2-3-1", "2-3-1-5", "2-3-1-1", "2314", "2-3-1-4-", "0-1-2-3", "2_3_1_4", "a"}) {
    const Error error = error_of([&] { (void)assign(std::string("z-order:quadrants=") + quadrants, launch, 32); });
    EXPECT_EQ(error.kind(), ErrorKind::Usage) << quadrants;
    EXPECT_THAT(error.info().found, HasSubstr(quadrants));
  }
  const Error tile = error_of([&] { (void)assign("z-order:tile=30x32", launch, 32); });
  EXPECT_EQ(tile.kind(), ErrorKind::Usage);
  EXPECT_THAT(tile.info().expected, HasSubstr("8x4"));
}

}  // namespace
}  // namespace rayreplay::scheduler::test
