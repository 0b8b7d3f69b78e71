// What becomes of what was asked for, and what is said when the trace does not have it?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.hpp"
#include "sim/launch/resolve.hpp"
#include "tests/engine/random_launch.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::experiment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void expect_error(ErrorKind kind, const std::string& part, const std::function<void()>& act) {
  EXPECT_THAT(test::message_of(kind, [&] { act(); }), HasSubstr(part));
}

class ResolveTest : public testing::Test {
 protected:
  trace::Trace trace_ = test::random_trace({8, 4, 1}, 1);
};

TEST_F(ResolveTest, FillsInDefaultsFromTheTrace) {
  Resolved resolved = resolve({}, trace_);
  EXPECT_EQ(resolved.warp_size, 32U);
  EXPECT_THAT(resolved.order, testing::StartsWith("z-order:"));
  EXPECT_THAT(resolved.costs, IsEmpty());
  EXPECT_EQ(resolved.packings.front(), "identity");
  EXPECT_GE(resolved.packings.size(), 6U);
  trace_.header.warp_size = 8;
  trace_.launches[0].thread_warp.resize(32);
  trace_.launches[0].thread_lane.resize(32);
  resolved = resolve({}, trace_);
  EXPECT_EQ(resolved.warp_size, 8U);
  EXPECT_THAT(resolved.order, testing::StartsWith("captured"));
}

TEST_F(ResolveTest, CapturedWarpsKeepTheirSize) {
  trace_.header.warp_size = 8;
  trace_.launches[0].thread_warp.resize(32);
  trace_.launches[0].thread_lane.resize(32);
  Configuration configuration;
  configuration.warp_size = 16;
  expect_error(ErrorKind::Usage, "the warp size is not that of the captured warps",
               [&] { static_cast<void>(resolve(configuration, trace_)); });
  configuration.order = "z-order";
  EXPECT_EQ(resolve(configuration, trace_).warp_size, 16U);
}

TEST_F(ResolveTest, IdentityComesFirstAndNothingTwice) {
  Configuration configuration;
  configuration.packings = {"numrays", "identity", "numrays"};
  EXPECT_THAT(resolve(configuration, trace_).packings, ElementsAre("identity", "numrays"));
}

TEST_F(ResolveTest, TheClosestMatchOfACostWins) {
  Configuration configuration;
  configuration.default_cost = 2;
  configuration.costs = {{"4", 40}, {"metal", 30}, {"closest-hit", 20}, {"intersection", 5}, {"torus", 6}};
  EXPECT_THAT(resolve(configuration, trace_).costs, ElementsAre(2, 5, 6, 2, 40, 20, 2));
}

TEST_F(ResolveTest, UnknownNamesSuggestTheNearest) {
  const auto expect = [&](const Configuration& configuration, const std::string& part) {
    expect_error(ErrorKind::Usage, part, [&] { static_cast<void>(resolve(configuration, trace_)); });
  };
  Configuration packing;
  packing.packings = {"numray"};
  expect(packing, "'numrays'");
  Configuration order;
  order.order = "zorder";
  expect(order, "'z-order'");
  Configuration policy;
  policy.policy = "min-shadr";
  expect(policy, "'min-shader'");
  Configuration cost;
  cost.costs = {{"metl", 3}};
  expect(cost, "'metal'");
  Configuration launch;
  launch.launch = 1;
  expect(launch, "0 to 0");
  Configuration size;
  size.warp_size = 65;
  expect(size, "1 to 64");
}

}  // namespace
}  // namespace rayreplay::experiment
