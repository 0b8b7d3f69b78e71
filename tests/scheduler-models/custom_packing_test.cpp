// The example of docs/adding-a-model.md is a packing like any other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler-models/support.hpp"

namespace rayreplay::scheduler::test {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(CustomPacking, IsListedWithTheOthers) {
  EXPECT_THAT(Packings::names(), Contains("reverse"));
  EXPECT_EQ(Packings::create("reverse").spec, "reverse:tiled=false");
}

TEST(CustomPacking, TurnsTheOrderOfThreadsRound) {
  const trace::Launch launch = empty_launch({4, 2, 1});
  EXPECT_THAT(pack("reverse", launch, assign("linear", launch, 2)), ElementsAre(7, 6, 5, 4, 3, 2, 1, 0));
  EXPECT_THAT(pack("reverse:tiled=true", launch, assign("z-order:warp=2x1,tile=2x2", launch, 2)),
              ElementsAre(5, 4, 7, 6, 1, 0, 3, 2));
}

}  // namespace
}  // namespace rayreplay::scheduler::test
