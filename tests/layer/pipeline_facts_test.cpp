// The driver's facts of pipelines: stack sizes of real programs on a real driver, held against what the program is
// told without the layer; statistics from a test layer below, as the software driver has none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "tests/layer/captured_run.hpp"

namespace rayreplay::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// Variants are made when a launch needs them, or instrumented pipelines at once.
constexpr const char* kFrames[] = {"0..", ""};

Settings with_facts(const char* frames) {
  return {{"RAYREPLAY_CAPTURE_PIPELINE_FACTS", "on"}, {"RAYREPLAY_CAPTURE_FRAMES", frames}};
}

Settings with_statistics(const char* frames, const char* mode = "") {
  auto settings = with_facts(frames);
  settings.emplace_back("VK_ADD_LAYER_PATH", RAYREPLAY_LAYER_FOLDER ":" RAYREPLAY_STATISTICS_FOLDER);
  settings.emplace_back("VK_INSTANCE_LAYERS", "VK_LAYER_RAYREPLAY_capture:VK_LAYER_RAYREPLAY_test_statistics");
  settings.emplace_back("RAYREPLAY_TEST_STATISTICS", mode);
  return settings;
}

/// As the scenario prints them.
std::string stack_sizes(const spool::PipelineFacts& facts) {
  return std::to_string(facts.groups.at(0).general_bytes) + " " + std::to_string(facts.groups.at(1).general_bytes) +
         " " + std::to_string(facts.groups.at(2).closest_hit_bytes);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

TEST(PipelineFacts, StackSizesAreTheOnesThatTheProgramIsToldWithoutTheLayer) {
  for (const std::string scenario : {"stack-sizes", "stack-sizes-library"}) {
    const std::string expected = first_line(run_plain(scenario).output);
    EXPECT_NE(expected, "");
    for (const char* frames : kFrames) {
      const auto captured = run_captured(scenario, with_facts(frames));
      EXPECT_EQ(captured.status, 0) << captured.errors;
      ASSERT_THAT(captured.spools, SizeIs(1));
      const SpoolContent& content = captured.spools.front();
      ASSERT_THAT(content.pipeline_facts, SizeIs(1)) << scenario << " " << frames << content.all_notes();
      const auto& facts = content.pipeline_facts.front();
      ASSERT_THAT(facts.groups, SizeIs(3));
      EXPECT_EQ(stack_sizes(facts), expected) << scenario << " " << frames;
      EXPECT_EQ(facts.recursion_depth, 1U);
      EXPECT_EQ(facts.dynamic_stack, 0);
      EXPECT_EQ(facts.pipeline, content.pipelines.front().pipeline);
      EXPECT_EQ(facts.groups[0].general, content.pipelines.front().groups[0].general);
      EXPECT_EQ(facts.groups[2].closest_hit, content.pipelines.front().groups[2].closest_hit);
      EXPECT_EQ(facts.groups[2].general_bytes, spool::kNoStack);
      EXPECT_EQ(facts.groups[2].any_hit_bytes, spool::kNoStack);
      EXPECT_THAT(facts.executables, SizeIs(0));
      EXPECT_THAT(content.all_notes(), HasSubstr("no VK_KHR_pipeline_executable_properties"));
    }
  }
}

/// The software driver gives all shaders one size, but the test layer one by the shader's length: instrumented shaders,
/// which the program is told of where every launch is recorded, have others.
TEST(PipelineFacts, StackSizesAreThoseOfTheShadersWithoutInstrumentation) {
  for (const std::string scenario : {"stack-sizes", "stack-sizes-library"}) {
    auto without = with_statistics("");
    without.emplace_back("VK_INSTANCE_LAYERS", "VK_LAYER_RAYREPLAY_test_statistics");
    const std::string expected = first_line(run_captured(scenario, without).output);
    for (const char* frames : kFrames) {
      const auto captured = run_captured(scenario, with_statistics(frames));
      ASSERT_THAT(captured.spools, SizeIs(1));
      ASSERT_THAT(captured.spools.front().pipeline_facts, SizeIs(1)) << captured.spools.front().all_notes();
      EXPECT_EQ(stack_sizes(captured.spools.front().pipeline_facts.front()), expected) << scenario << " " << frames;
      EXPECT_EQ(first_line(captured.output) == expected, frames == kFrames[0]) << scenario << " " << frames;
    }
  }
}

/// The program's libraries and layout are gone before its first launch.
TEST(PipelineFacts, OfAPipelineWhosePartsAreGone) {
  const std::string expected = first_line(run_plain("stack-sizes-library").output);
  for (const char* frames : kFrames) {
    const auto captured = run_captured("gone", with_facts(frames));
    EXPECT_EQ(captured.output, run_plain("gone").output);
    ASSERT_THAT(captured.spools, SizeIs(1));
    ASSERT_THAT(captured.spools.front().pipeline_facts, SizeIs(1)) << captured.spools.front().all_notes();
    EXPECT_EQ(stack_sizes(captured.spools.front().pipeline_facts.front()), expected) << frames;
  }
}

TEST(PipelineFacts, WithTheDynamicStackSizeOfTheLaunch) {
  for (const char* frames : kFrames) {
    const auto captured = run_captured("dynamic-stack", with_facts(frames));
    EXPECT_EQ(captured.output, run_plain("dynamic-stack").output);
    ASSERT_THAT(captured.spools, SizeIs(1));
    const SpoolContent& content = captured.spools.front();
    ASSERT_THAT(content.pipeline_facts, SizeIs(1));
    EXPECT_EQ(content.pipeline_facts.front().dynamic_stack, 1);
    ASSERT_THAT(content.launches, SizeIs(1));
    EXPECT_EQ(content.launches.front().stack_bytes, 256U) << frames;
  }
}

/// Probes that observe-all adds are no shaders of the application.
TEST(PipelineFacts, WithoutProbes) {
  auto settings = with_facts("");
  settings.emplace_back("RAYREPLAY_CAPTURE_OBSERVE_ALL", "on");
  const auto captured = run_captured("modules", settings);
  ASSERT_THAT(captured.spools, SizeIs(1));
  const SpoolContent& content = captured.spools.front();
  EXPECT_NE(content.pipelines.front().groups.at(2).any_hit, spool::kNoShader);
  ASSERT_THAT(content.pipeline_facts, SizeIs(1));
  EXPECT_EQ(content.pipeline_facts.front().groups.at(2).any_hit, spool::kNoShader);
  EXPECT_EQ(content.pipeline_facts.front().groups.at(2).any_hit_bytes, spool::kNoStack);
  EXPECT_EQ(stack_sizes(content.pipeline_facts.front()), first_line(run_plain("stack-sizes").output));
}

TEST(PipelineFacts, AreNotThereUnlessAskedFor) {
  for (const char* frames : kFrames) {
    auto settings = with_statistics(frames);
    settings.front().second = "off";
    const auto captured = run_captured("modules", settings);
    EXPECT_EQ(captured.errors, "");
    ASSERT_THAT(captured.spools, SizeIs(1));
    EXPECT_THAT(captured.spools.front().pipeline_facts, SizeIs(0));
    EXPECT_EQ(captured.spools.front().all_notes(), "");
  }
}

TEST(PipelineFacts, HoldTheStatisticsOfADriverThatHasThem) {
  for (const std::string scenario : {"modules", "dynamic-stack", "inline", "deferred"}) {
    const auto plain = run_plain(scenario);
    for (const char* frames : kFrames) {
      const auto captured = run_captured(scenario, with_statistics(frames));
      EXPECT_EQ(captured.output, plain.output) << captured.errors;
      EXPECT_EQ(captured.errors, plain.errors);
      EXPECT_EQ(captured.status, plain.status);
      ASSERT_THAT(captured.spools, SizeIs(1));
      const SpoolContent& content = captured.spools.front();
      EXPECT_EQ(content.all_notes(), "");
      ASSERT_THAT(content.pipeline_facts, SizeIs(1));
      const auto& executables = content.pipeline_facts.front().executables;
      ASSERT_THAT(executables, SizeIs(3)) << scenario << " " << frames;
      EXPECT_EQ(executables[1].name, "stage 1");
      EXPECT_EQ(executables[1].description, std::string(256, 'd'));
      EXPECT_EQ(executables[0].stages, 0x100U);  // VK_SHADER_STAGE_RAYGEN_BIT_KHR
      EXPECT_EQ(executables[1].stages, 0x800U);  // VK_SHADER_STAGE_MISS_BIT_KHR
      EXPECT_EQ(executables[1].subgroup_size, 8U);
      const auto& statistics = executables[2].statistics;
      ASSERT_THAT(statistics, SizeIs(4));
      EXPECT_EQ(statistics[0].name, "Register Count");
      EXPECT_EQ(statistics[0].description, "made for a test");
      EXPECT_EQ(statistics[0].format, spool::StatisticFormat::Uint64);
      EXPECT_EQ(statistics[0].value, 48U);
      EXPECT_EQ(statistics[1].format, spool::StatisticFormat::Bool);
      EXPECT_EQ(statistics[1].value, 1U);
      EXPECT_EQ(statistics[2].format, spool::StatisticFormat::Int64);
      EXPECT_EQ(std::bit_cast<std::int64_t>(statistics[2].value), -5);
      EXPECT_EQ(statistics[3].format, spool::StatisticFormat::Float64);
      EXPECT_EQ(std::bit_cast<double>(statistics[3].value), .25);
    }
  }
}

TEST(PipelineFacts, SayWhatTheDriverDoesNotGive) {
  for (const char* frames : kFrames) {
    for (const auto& [mode, note] : {std::pair{"none", "names no executables"}, {"fail", "gives no executables"}}) {
      const auto captured = run_captured("modules", with_statistics(frames, mode));
      EXPECT_EQ(captured.output, run_plain("modules").output);
      ASSERT_THAT(captured.spools, SizeIs(1));
      const SpoolContent& content = captured.spools.front();
      EXPECT_THAT(content.all_notes(), HasSubstr(note));
      ASSERT_THAT(content.pipeline_facts, SizeIs(1));
      EXPECT_THAT(content.pipeline_facts.front().groups, SizeIs(3));
      EXPECT_THAT(content.pipeline_facts.front().executables, SizeIs(0));
    }
  }
}

}  // namespace
}  // namespace rayreplay::test
