// Profiles of shaders whose blocks and counts are known.
#include "capture/profile/shader_profile.hpp"

#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
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

std::vector<ShaderProfile> profiles_of(const trace::Profile& profile) {
  return shader_profiles({profile.shaders, profile.block_counts, profile.header.warp_size}, "t.rrt");
}

TEST(ShaderProfile, CountsEntriesUnusedCodeAndEfficiency) {
  const auto shaders = profiles_of(profile());
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
  EXPECT_FALSE(profiles_of(without)[0].efficiency);
  EXPECT_FALSE(profiles_of(without)[0].blocks[0].groups);
  without = profile();
  without.header.warp_size = 0;
  EXPECT_FALSE(profiles_of(without)[0].efficiency);
}

TEST(ShaderProfile, OfAShaderThatNeverRanIsUnused) {
  trace::Profile never = profile();
  never.block_counts.lanes.assign(5, 0);
  never.block_counts.groups.assign(5, 0);
  const auto shaders = profiles_of(never);
  EXPECT_EQ(shaders[0].unused_blocks, 5U);
  EXPECT_FALSE(shaders[0].efficiency);
}

TEST(ShaderProfile, CountsIssueSlotsAndGroups) {
  const ShaderProfile shader = profiles_of(profile())[0];
  EXPECT_DOUBLE_EQ(shader.lane_issue_slots, shader.lane_instructions) << "no vectors";
  EXPECT_EQ(shader.lane_trace_calls, 0);
  EXPECT_EQ(shader.group_instructions, 2 * 25'000. + 4 * 1. + 25'000. + 50'000. + 1.);
}

TEST(ShaderProfile, EfficiencyOfSeveralIsOfTheirSums) {
  std::vector<ShaderProfile> two(2);
  two[0].lane_instructions = 60;
  two[0].group_instructions = 10;
  two[1].lane_instructions = 20;
  two[1].group_instructions = 10;
  EXPECT_EQ(instruction_efficiency(two, 8), 80. / (8 * 20));
  EXPECT_FALSE(instruction_efficiency(two, 0));
  two[1].group_instructions.reset();
  EXPECT_FALSE(instruction_efficiency(two, 8));
  EXPECT_FALSE(instruction_efficiency({}, 8));
}

TEST(ShaderProfile, OfALaunchAreThePipelinesThatRanItsShaders) {
  std::vector<ShaderProfile> profiles(5);
  const auto set = [&](std::size_t at, std::uint32_t pipeline, std::uint16_t shader, std::uint64_t entries) {
    profiles[at].pipeline = pipeline;
    profiles[at].shader = shader;
    profiles[at].entries = entries;
  };
  set(0, 0, 0, 5);
  set(1, 0, 1, 0);
  set(2, 1, 0, 2);
  set(3, 1, 1, 9);
  set(4, 1, 2, 0);
  const auto pipelines = [&](std::vector<std::uint16_t> shaders) {
    trace::Launch launch;
    for (const std::uint16_t shader : shaders) {
      launch.data.events.shader.push_back(shader);
    }
    std::set<std::uint32_t> found;
    for (const ShaderProfile& one : of_launch(profiles, launch)) {
      found.insert(one.pipeline);
    }
    return found;
  };
  using Pipelines = std::set<std::uint32_t>;
  EXPECT_EQ(pipelines({0, 1, 0}), (Pipelines{1}));
  EXPECT_EQ(pipelines({0}), (Pipelines{0, 1}));
  EXPECT_EQ(pipelines({0, 7}), (Pipelines{0, 1})) << "nobody counted shader 7";
  EXPECT_EQ(pipelines({0, 2}), (Pipelines{0, 1})) << "no pipeline ran shader 2: all";
}

TEST(ShaderProfile, NamesWhatTheModuleDoesNotHave) {
  const auto fault = [](const auto& damage) {
    trace::Profile damaged = profile();
    damage(damaged);
    const Error error = test::error_of([&] { static_cast<void>(profiles_of(damaged)); });
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
