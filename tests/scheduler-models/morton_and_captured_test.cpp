// Launch orders that come from real devices: the measured model and the captured order itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/scheduler-models/support.hpp"

namespace rayreplay::scheduler::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::uint32_t> started(const WarpAssignment& assignment) {
  std::vector<std::uint32_t> result(assignment.warps());
  for (std::uint32_t warp = 0; warp < result.size(); ++warp) {
    result[assignment.start_rank[warp]] = warp;
  }
  return result;
}

TEST(MortonGroups, GroupsFollowTheCurveAndWarpsOfAGroupStartTogether) {
  // 4×4 warps in groups of 2×2: groups upper left, upper right, lower left, lower right; row-major inside.
  EXPECT_THAT(started(assign("morton-groups:warp=1x1,group=2x2", empty_launch({4, 4, 1}), 1)),
              ElementsAre(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15));
}

TEST(MortonGroups, BlocksAreRowMajorAndTheTiles) {
  // Groups of one warp; 4×2 groups in blocks of 2×2: Morton inside each block.
  const WarpAssignment result = assign("morton-groups:warp=1x1,group=1x1,block=2x2", empty_launch({4, 2, 1}), 1);
  EXPECT_THAT(started(result), ElementsAre(0, 1, 4, 5, 2, 3, 6, 7));
  EXPECT_THAT(result.tile, ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
}

TEST(MortonGroups, AutoIsWhatWasMeasured) {
  trace::Launch launch;
  launch.size = {1280, 720, 1};
  EXPECT_EQ(assign("morton-groups", launch, 32).start_rank,
            assign("morton-groups:warp=4x8,group=8x16,block=32x16", launch, 32).start_rank);
  launch.size = {1920, 1080, 1};
  EXPECT_EQ(assign("morton-groups", launch, 32).start_rank,
            assign("morton-groups:warp=4x8,group=16x8,block=16x8", launch, 32).start_rank);
  launch.size = {1024, 500, 1};
  EXPECT_EQ(assign("morton-groups", launch, 32).start_rank,
            assign("morton-groups:warp=8x4,group=16x8,block=whole", launch, 32).start_rank);
  launch.size = {100, 100, 1};
  EXPECT_EQ(assign("morton-groups", launch, 32).start_rank,
            assign("morton-groups:warp=4x8,group=8x16,block=whole", launch, 32).start_rank);
}

TEST(MortonGroups, GroupsHoldWholeWarps) {
  const Error error = error_of([] { (void)assign("morton-groups:warp=4x8,group=6x8", empty_launch({64, 64, 1}), 32); });
  EXPECT_EQ(error.kind(), ErrorKind::Usage);
  EXPECT_THAT(error.info().expected, HasSubstr("4x8"));
}

trace::Launch captured_launch() {
  // 4×2 threads in 2×2 warps; the right warp (id 0) started first and lanes run column by column.
  trace::Launch launch = empty_launch({4, 2, 1});
  launch.thread_warp = {5, 5, 0, 0, 5, 5, 0, 0};
  launch.thread_lane = {0, 2, 0, 2, 1, 3, 1, 3};
  return launch;
}

TEST(Captured, WarpsLanesAndOrderAreTheDevices) {
  const WarpAssignment result = assign("captured", captured_launch(), 4);
  EXPECT_THAT(result.thread_at, ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(result.start_rank, ElementsAre(1, 0));
  EXPECT_NO_THROW(check(result, 8));
}

TEST(Captured, PartialWarpsHaveEmptyLanes) {
  trace::Launch launch = empty_launch({3, 1, 1});
  launch.thread_warp = {7, 7, 2};
  launch.thread_lane = {0, 3, 1};
  const WarpAssignment result = assign("captured", launch, 4);
  EXPECT_THAT(result.thread_at, ElementsAre(0, kNoThread, kNoThread, 1, kNoThread, 2, kNoThread, kNoThread));
  EXPECT_THAT(result.start_rank, ElementsAre(1, 0));
}

TEST(Captured, TilesGoByTheWarpsLowestThreadWithoutGaps) {
  trace::Launch launch = empty_launch({4, 2, 1});
  launch.thread_warp = {0, 0, 0, 0, 1, 1, 1, 1};
  launch.thread_lane = {0, 1, 2, 3, 0, 1, 2, 3};
  // Tiles of 2×1: warps begin in tiles 0 and 2 of 0…3.
  EXPECT_THAT(assign("captured:tile=2x1", launch, 4).tile, ElementsAre(0, 1));
  EXPECT_THAT(assign("captured:tile=4x2", launch, 4).tile, ElementsAre(0, 0));
}

TEST(Captured, WithoutCapturedWarpsTheErrorSaysHowToGetThem) {
  const Error error = error_of([] { (void)assign("captured", empty_launch({4, 4, 1}), 32); });
  EXPECT_EQ(error.kind(), ErrorKind::Missing);
  EXPECT_THAT(error.info().fix, HasSubstr("capture layer"));
}

TEST(Captured, LanesThatCannotBeAreErrors) {
  EXPECT_EQ(error_of([] { (void)assign("captured", captured_launch(), 2); }).kind(), ErrorKind::Usage);
  trace::Launch twice = captured_launch();
  twice.thread_lane[1] = 0;
  const Error shared = error_of([&] { (void)assign("captured", twice, 4); });
  EXPECT_EQ(shared.kind(), ErrorKind::Input);
  EXPECT_THAT(shared.info().found, HasSubstr("warp 5, lane 0, also of thread 0"));
  trace::Launch none = captured_launch();
  none.thread_warp[3] = trace::kNone;
  EXPECT_EQ(error_of([&] { (void)assign("captured", none, 4); }).kind(), ErrorKind::Input);
}

}  // namespace
}  // namespace rayreplay::scheduler::test
