// Profiles of shaders whose blocks and counts are known.
#include "capture/profile/shader_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/support/branching_shader.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::profile {
namespace {

using testing::HasSubstr;

trace::Profile profile() {
  trace::Profile result;
  result.header.warp_size = 8;
  result.shaders = {{trace::ShaderStage::Miss, "main", "sky", test::branching_shader()}};
  result.block_counts = {{3, 3, 3, 3, 3},
                         {0, 0, 0, 0, 0},
                         {0, 0, 0, 0, 1},
                         {0, 1, 2, 3, 0},
                         {200'000, 1, 199'999, 200'000, 2},
                         {25'000, 1, 25'000, 50'000, 1}};
  return result;
}

TEST(ShaderProfile, CountsEntriesUnusedCodeAndEfficiency) {
  const auto shaders = shader_profiles(profile(), "t.rrt");
  ASSERT_EQ(shaders.size(), 1U);
  const ShaderProfile& shader = shaders[0];
  EXPECT_EQ(shader.pipeline, 3U);
  EXPECT_EQ(shader.entries, 200'000U);
  ASSERT_EQ(shader.blocks.size(), 5U);
  EXPECT_EQ(shader.blocks[0].instructions, 2U);
  EXPECT_EQ(shader.blocks[1].instructions, 4U);
  EXPECT_EQ(shader.blocks[2].instructions, 1U);
  EXPECT_EQ(shader.blocks[0].function_name, "main");
  EXPECT_EQ(shader.blocks[4].function_name, "%20");
  EXPECT_EQ(shader.blocks[1].label, 11U);
  // One execution of 200,000 entries is less than 0.001 %; two are that.
  EXPECT_TRUE(shader.blocks[1].unused);
  EXPECT_FALSE(shader.blocks[4].unused);
  EXPECT_EQ(shader.unused_blocks, 1U);
  EXPECT_EQ(shader.instructions, 9U);
  EXPECT_EQ(shader.unused_instructions, 4U);
  const double lanes = 2 * 200'000. + 4 * 1. + 199'999. + 200'000. + 2.;
  const double groups = 2 * 25'000. + 4 * 1. + 25'000. + 50'000. + 1.;
  EXPECT_DOUBLE_EQ(shader.lane_instructions, lanes);
  ASSERT_TRUE(shader.efficiency);
  EXPECT_DOUBLE_EQ(*shader.efficiency, lanes / (8 * groups));
}

TEST(ShaderProfile, HasNoEfficiencyWithoutGroupsOrWarpSize) {
  trace::Profile without = profile();
  without.block_counts.groups.clear();
  EXPECT_FALSE(shader_profiles(without, "t.rrt")[0].efficiency);
  EXPECT_FALSE(shader_profiles(without, "t.rrt")[0].blocks[0].groups);
  without = profile();
  without.header.warp_size = 0;
  EXPECT_FALSE(shader_profiles(without, "t.rrt")[0].efficiency);
}

TEST(ShaderProfile, OfAShaderThatNeverRanIsUnused) {
  trace::Profile never = profile();
  never.block_counts.lanes.assign(5, 0);
  never.block_counts.groups.assign(5, 0);
  const auto shaders = shader_profiles(never, "t.rrt");
  EXPECT_EQ(shaders[0].unused_blocks, 5U);
  EXPECT_FALSE(shaders[0].efficiency);
}

TEST(ShaderProfile, NamesWhatTheModuleDoesNotHave) {
  const auto fault = [](const auto& damage) {
    trace::Profile damaged = profile();
    damage(damaged);
    const Error error = test::error_of([&] { static_cast<void>(shader_profiles(damaged, "t.rrt")); });
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    return std::string(error.what());
  };
  EXPECT_THAT(fault([](auto& p) { p.block_counts.function[4] = 2; }),
              HasSubstr("the shader's module has no such function"));
  EXPECT_THAT(fault([](auto& p) { p.block_counts.block[3] = 4; }), HasSubstr("the function has no such block"));
  EXPECT_THAT(fault([](auto& p) { p.shaders[0].spirv.clear(); }), HasSubstr("t.rrt:/profile/blocks/shader[0]"));
}

}  // namespace
}  // namespace rayreplay::profile
