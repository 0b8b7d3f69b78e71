// Every model is registered, described and deterministic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <tbb/global_control.h>

#include "tests/scheduler-models/support.hpp"

namespace rayreplay::scheduler::test {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

TEST(Registry, HoldsTheModels) {
  EXPECT_THAT(LaunchOrders::names(), IsSupersetOf({"linear", "z-order", "morton-groups", "captured"}));
  EXPECT_THAT(Packings::names(), IsSupersetOf({"identity", "random", "numrays", "tiled-numrays", "objects",
                                               "tiled-objects", "origin-morton", "direction-morton", "origin-hilbert",
                                               "direction-hilbert", "first-hit-shader", "shader-sequence"}));
}

TEST(Registry, EveryModelSaysWhatItIs) {
  for (const ModelDescription& model : all_models()) {
    SCOPED_TRACE(model.name);
    EXPECT_FALSE(model.summary.empty());
    EXPECT_FALSE(model.text.empty());
    EXPECT_FALSE(model.source.empty());
    for (const Parameter& parameter : model.parameters) {
      EXPECT_FALSE(parameter.text.empty()) << parameter.name;
    }
  }
}

TEST(Registry, UnknownNamesAndKeysNameTheNearest) {
  EXPECT_THAT(error_of([] { (void)Packings::create("numray"); }).info().fix, HasSubstr("numrays"));
  EXPECT_EQ(error_of([] { (void)Packings::create("random:sed=3"); }).kind(), ErrorKind::Usage);
  EXPECT_EQ(error_of([] { (void)Packings::create("origin-morton:bits=22"); }).kind(), ErrorKind::Usage);
  EXPECT_EQ(error_of([] { (void)LaunchOrders::create("z-ordr"); }).kind(), ErrorKind::Usage);
}

TEST(Registry, EveryPackingIsABijectionAndTheSameWhateverTheNumberOfThreads) {
  const trace::LaunchSize size{61, 47, 2};
  const trace::Launch launch = RandomLaunch(7, {0, 1, 2, 3})(size);
  const WarpAssignment assignment = assign("z-order:tile=16x16", launch, 32);
  for (const std::string& name : Packings::names()) {
    SCOPED_TRACE(name);
    const Swizzle swizzle = pack(name, launch, assignment);
    EXPECT_NO_THROW(check_bijection(swizzle, size.threads(), name));
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    EXPECT_EQ(pack(name, launch, assignment), swizzle);
  }
}

TEST(Registry, EveryPackingTakesALaunchWithoutThreads) {
  const trace::Launch launch = empty_launch({0, 0, 1});
  for (const std::string& name : Packings::names()) {
    EXPECT_TRUE(pack(name, launch, assign("z-order", launch, 32)).empty()) << name;
  }
}

}  // namespace
}  // namespace rayreplay::scheduler::test
