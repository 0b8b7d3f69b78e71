// What may a user write, what becomes of it, and what is said when it is wrong?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.hpp"
#include "sim/experiment/configuration.hpp"
#include "tests/experiment/random_launch.hpp"

namespace rayreplay::experiment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

void expect_error(ErrorKind kind, const std::string& part, const std::function<void()>& act) {
  try {
    act();
    ADD_FAILURE() << "nothing was thrown; expected: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

void expect_toml_error(const std::string& toml, const std::string& part) {
  expect_error(ErrorKind::Usage, part, [&] { static_cast<void>(parse_configuration(toml, "c.toml")); });
}

TEST(Configuration, EveryKeyHasADefault) {
  const Configuration configuration = parse_configuration("", "c.toml");
  EXPECT_EQ(configuration.launch, 0U);
  EXPECT_EQ(configuration.warp_size, 0U);
  EXPECT_EQ(configuration.order, "auto");
  EXPECT_EQ(configuration.policy, "stage-majority");
  EXPECT_THAT(configuration.packings, IsEmpty());
  EXPECT_THAT(configuration.costs, IsEmpty());
  EXPECT_EQ(configuration.default_cost, 1U);
}

TEST(Configuration, ReadsEveryKey) {
  const Configuration configuration = parse_configuration(
      "launch = 2\nwarp_size = 8\norder = \"linear\"\npolicy = \"min-shader\"\npackings = [\"random:seed=3\"]\n"
      "swizzles = [\"a.bin\"]\ndefault_cost = 3\n[costs]\nmetal = 20\n\"4\" = 7\n",
      "c.toml");
  EXPECT_EQ(configuration.launch, 2U);
  EXPECT_EQ(configuration.warp_size, 8U);
  EXPECT_EQ(configuration.order, "linear");
  EXPECT_EQ(configuration.policy, "min-shader");
  EXPECT_THAT(configuration.packings, ElementsAre("random:seed=3"));
  EXPECT_THAT(configuration.swizzles, ElementsAre("a.bin"));
  EXPECT_EQ(configuration.default_cost, 3U);
  EXPECT_THAT(configuration.costs, testing::UnorderedElementsAre(Pair("metal", 20), Pair("4", 7)));
}

TEST(Configuration, FaultsNameLineAndNearestKey) {
  expect_toml_error("\nwarpsize = 3\n", "c.toml:2");
  expect_toml_error("warpsize = 3\n", "'warp_size'");
  expect_toml_error("launch = \"x\"\n", "a whole number");
  expect_toml_error("launch = -1\n", "a whole number");
  expect_toml_error("order = 3\n", "a string");
  expect_toml_error("packings = \"numrays\"\n", "a list of strings");
  expect_toml_error("packings = [3]\n", "a string");
  expect_toml_error("costs = 3\n", "a table");
  expect_toml_error("[costs]\nmetal = -1\n", "a whole number");
  expect_toml_error("launch = \n", "not TOML");
}

TEST(Configuration, ACostsFileHoldsCostsAlone) {
  Configuration configuration;
  configuration.costs = {{"old", 1}};
  parse_costs("default_cost = 2\n[costs]\nsky = 9\n", "costs.toml", configuration);
  EXPECT_EQ(configuration.default_cost, 2U);
  EXPECT_THAT(configuration.costs, ElementsAre(Pair("sky", 9)));
  expect_error(ErrorKind::Usage, "unknown key", [&] { parse_costs("launch = 1\n", "costs.toml", configuration); });
}

TEST(CostList, SplitsAtCommasAndTheLastEqualsSign) {
  EXPECT_THAT(parse_cost_list("metal=20,closest-hit=5"), ElementsAre(Pair("metal", 20), Pair("closest-hit", 5)));
  EXPECT_THAT(parse_cost_list("a=b=3"), ElementsAre(Pair("a=b", 3)));
  EXPECT_THAT(parse_cost_list("x=4294967295"), ElementsAre(Pair("x", 4294967295U)));
}

TEST(CostList, RefusesEverythingElse) {
  for (const char* text :
       {"metal", "=3", "metal=", "metal=x", "metal=-1", "metal=1.5", "metal=4294967296", "a=1,,b=2"}) {
    expect_error(ErrorKind::Usage, "--cost", [&] { static_cast<void>(parse_cost_list(text)); });
  }
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

TEST_F(ResolveTest, ItsTomlResolvesToItself) {
  Configuration configuration;
  configuration.warp_size = 16;
  configuration.packings = {"random:seed=9", "tiled-numrays"};
  configuration.swizzles = {"a \"b\"\\c\n.bin"};
  configuration.costs = {{"metal", 30}};
  const Resolved first = resolve(configuration, trace_);
  const std::string toml = to_toml(first, trace_);
  const Resolved second = resolve(parse_configuration(toml, "printed"), trace_);
  EXPECT_EQ(second.order, first.order);
  EXPECT_EQ(second.packings, first.packings);
  EXPECT_EQ(second.swizzles, first.swizzles);
  EXPECT_EQ(second.costs, first.costs);
  EXPECT_EQ(to_toml(second, trace_), toml);
}

}  // namespace
}  // namespace rayreplay::experiment
