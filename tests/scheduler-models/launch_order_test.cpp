// What every launch order keeps, and the linear one in particular.
#include "scheduler-models/launch_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "scheduler-models/warp_grid.hpp"
#include "tests/scheduler-models/support.hpp"

namespace rayreplay::scheduler::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(LaunchOrder, EveryThreadStandsAtExactlyOnePlace) {
  for (const trace::LaunchSize size :
       {trace::LaunchSize{1, 1, 1}, trace::LaunchSize{32, 1, 1}, trace::LaunchSize{33, 1, 1},
        trace::LaunchSize{1, 77, 1}, trace::LaunchSize{1, 1, 9}, trace::LaunchSize{7, 5, 3},
        trace::LaunchSize{100, 100, 1}, trace::LaunchSize{1001, 37, 1}, trace::LaunchSize{48, 48, 2},
        trace::LaunchSize{1024, 500, 1}, trace::LaunchSize{640, 480, 1}, trace::LaunchSize{0, 4, 1}}) {
    const trace::Launch launch = empty_launch(size);
    for (const std::uint32_t warp_size : {1U, 2U, 3U, 4U, 8U, 16U, 31U, 32U, 63U, 64U}) {
      for (const char* model : {"linear", "z-order", "morton-groups", "z-order:quadrants=4-1-3-2"}) {
        SCOPED_TRACE(std::string(model) + " " + std::to_string(size.width) + "x" + std::to_string(size.height) + "x" +
                     std::to_string(size.depth) + ", warps of " + std::to_string(warp_size));
        ASSERT_NO_THROW(check(assign(model, launch, warp_size), size.threads()));
      }
    }
  }
}

TEST(LaunchOrder, DefaultShapes) {
  const trace::LaunchSize square{64, 64, 1};
  EXPECT_EQ(default_warp_shape(square, 32), (Extent{8, 4}));
  EXPECT_EQ(default_warp_shape(square, 64), (Extent{8, 8}));
  EXPECT_EQ(default_warp_shape(square, 16), (Extent{4, 4}));
  EXPECT_EQ(default_warp_shape(square, 8), (Extent{8, 1}));
  EXPECT_EQ(default_warp_shape(square, 4), (Extent{2, 2}));
  EXPECT_EQ(default_warp_shape(square, 2), (Extent{2, 1}));
  EXPECT_EQ(default_warp_shape(square, 1), (Extent{1, 1}));
  EXPECT_EQ(default_warp_shape(square, 24), (Extent{24, 1}));
  EXPECT_EQ(default_warp_shape({4096, 1, 1}, 32), (Extent{32, 1}));
  EXPECT_EQ(default_warp_shape({1, 4096, 1}, 32), (Extent{1, 32}));
}

TEST(Linear, LanesAreRowMajorInTheWarpAndWarpsInTheLaunch) {
  const WarpAssignment result = assign("linear:warp=2x2", empty_launch({5, 3, 1}), 4);
  constexpr std::uint32_t kNone = kNoThread;
  EXPECT_THAT(result.thread_at, ElementsAre(0, 1, 5, 6, 2, 3, 7, 8, 4, kNone, 9, kNone,  //
                                            10, 11, kNone, kNone, 12, 13, kNone, kNone, 14, kNone, kNone, kNone));
  EXPECT_THAT(result.start_rank, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(result.tile, ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(Linear, SlicesFollowEachOther) {
  const WarpAssignment result = assign("linear:warp=2x1", empty_launch({2, 2, 2}), 2);
  EXPECT_THAT(result.thread_at, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(result.start_rank, ElementsAre(0, 1, 2, 3));
}

TEST(LaunchOrder, ShapesThatDoNotFitAreUsageErrors) {
  const trace::Launch launch = empty_launch({8, 8, 1});
  const Error shape = error_of([&] { (void)assign("linear:warp=8x8", launch, 32); });
  EXPECT_EQ(shape.kind(), ErrorKind::Usage);
  EXPECT_EQ(shape.info().found, "8x8");
  EXPECT_THAT(shape.info().expected, HasSubstr("32 threads"));
  for (const char* warp : {"8", "8x", "x4", "8x4x1", "0x4", "-8x4", "8*4", "", "99999999999x1"}) {
    const Error error = error_of([&] { (void)assign(std::string("linear:warp=") + warp, launch, 32); });
    EXPECT_EQ(error.kind(), ErrorKind::Usage) << warp;
  }
  EXPECT_EQ(error_of([&] { (void)assign("linear", launch, 0); }).kind(), ErrorKind::Usage);
  EXPECT_EQ(error_of([&] { (void)assign("linear", launch, 65); }).kind(), ErrorKind::Usage);
}

TEST(LaunchOrder, MoreThreadsThanIdsAreAUsageError) {
  trace::Launch launch;
  for (const trace::LaunchSize size : {trace::LaunchSize{65536, 65536, 1}, trace::LaunchSize{1, 1, 0xFFFF'FFFF},
                                       trace::LaunchSize{0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF}}) {
    launch.size = size;
    if (size.width == 1) {
      // 2^32 − 1 threads are allowed: only the look at the size is tried here.
      EXPECT_EQ(make_warp_grid(size, 1, {1, 1}).slices, 0xFFFF'FFFFU);
      continue;
    }
    EXPECT_EQ(error_of([&] { (void)assign("linear", launch, 32); }).kind(), ErrorKind::Usage);
  }
}

}  // namespace
}  // namespace rayreplay::scheduler::test
