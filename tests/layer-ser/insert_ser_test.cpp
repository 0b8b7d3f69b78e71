// The layer with insert_ser: on a device without hit objects, and on one that says it has them (hit_objects_layer.cpp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "capture/spirv/module.hpp"
#include "tests/layer/captured_run.hpp"

namespace rayreplay::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kThreads = 256;  // of the scenarios' usual launch
constexpr const char* kInsert = "RAYREPLAY_CAPTURE_INSERT_SER";

/// A run under both layers.
Outcome run_reordered(const std::string& scenario, Settings settings) {
  settings.emplace_back("VK_ADD_LAYER_PATH", RAYREPLAY_LAYER_FOLDER ":" RAYREPLAY_HIT_OBJECTS_FOLDER);
  settings.emplace_back("VK_INSTANCE_LAYERS", "VK_LAYER_RAYREPLAY_capture:VK_LAYER_RAYREPLAY_test_hit_objects");
  return run_captured(scenario, settings);
}

bool has_hit_objects(const spool::Shader& shader) {
  std::string reason;
  const auto module = spirv::parse(shader.spirv, reason);
  return module && module->has(spv::Capability::ShaderInvocationReorderNV);
}

/// Of a launch; one without threads has none.
std::vector<std::uint64_t> events_of(const SpoolContent& content, std::size_t launch = 0) {
  const auto found = content.words.find(content.launches.at(launch).launch);
  return count_events(found == content.words.end() ? std::vector<std::uint32_t>{} : found->second);
}

TEST(WithoutHitObjects, TheProgramIsTheSameAndTheTraceSaysWhy) {
  const auto plain = run_plain("modules");
  const auto captured = run_captured("modules", {{kInsert, "none"}});
  EXPECT_EQ(captured.status, 0) << captured.errors;
  EXPECT_EQ(captured.output, plain.output);
  EXPECT_THAT(captured.errors, HasSubstr("lacks VK_NV_ray_tracing_invocation_reorder and "
                                         "VK_EXT_ray_tracing_invocation_reorder: shaders keep their trace calls"));
  const auto& content = captured.spools.at(0);
  EXPECT_THAT(content.all_notes(), HasSubstr("insert-ser: device "));
  EXPECT_THAT(content.launches, SizeIs(1));
  EXPECT_EQ(events_of(content)[RR_REORDER], 0U);
  EXPECT_TRUE(std::none_of(content.shaders.begin(), content.shaders.end(), has_hit_objects));
}

TEST(WithoutHitObjects, AFaultyProgramIsNoted) {
  const auto captured = run_captured("modules", {{kInsert, "4: object"}});
  EXPECT_EQ(captured.output, run_plain("modules").output);
  EXPECT_THAT(captured.spools.at(0).all_notes(), HasSubstr("RAYREPLAY_CAPTURE_INSERT_SER='4: object' cannot be read"));
}

class Reordered : public testing::TestWithParam<const char*> {};

TEST_P(Reordered, SamePrintAndAReorderCallForEachRay) {
  const auto plain = run_plain(GetParam());
  const auto captured = run_captured(GetParam());
  const auto reordered = run_reordered(GetParam(), {{kInsert, "none"}});
  EXPECT_EQ(reordered.status, 0) << reordered.errors;
  EXPECT_EQ(reordered.output, plain.output);
  EXPECT_THAT(reordered.errors, IsEmpty());
  ASSERT_THAT(reordered.spools, SizeIs(1));
  const auto& content = reordered.spools[0];
  EXPECT_EQ(content.all_notes(), "");
  ASSERT_EQ(content.launches.size(), captured.spools.at(0).launches.size());
  std::uint64_t rays = 0, reorders = 0, executes = 0;
  std::vector<std::vector<std::uint64_t>> found, wanted;
  for (std::size_t i = 0; i < content.launches.size(); ++i) {
    auto counts = events_of(content, i);
    rays += counts[RR_TRACE];
    reorders += std::exchange(counts[RR_REORDER], 0);
    executes += std::exchange(counts[RR_EXECUTE], 0);
    found.push_back(std::move(counts));
    wanted.push_back(events_of(captured.spools[0], i));
  }
  EXPECT_EQ(reorders, rays);
  EXPECT_EQ(executes, rays);
  std::sort(found.begin(), found.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(found, wanted);
  // The spool has the shaders as they ran.
  for (const auto& shader : content.shaders) {
    EXPECT_EQ(has_hit_objects(shader), shader.stage == 0) << shader.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Reordered,
                         testing::Values("modules", "inline", "library", "gone", "deferred", "dynamic-stack",
                                         "individual-features", "plain-features", "indirect", "many-launches",
                                         "secondary", "threads", "devices", "frames", "churn", "odd-calls"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(WithHitObjects, ChosenLaunchesAreRecordedOfAnyPipelines) {
  const auto reordered = run_reordered("modules", {{kInsert, "none"}, {"RAYREPLAY_CAPTURE_FRAMES", "0.."}});
  EXPECT_EQ(reordered.output, run_plain("modules").output);
  EXPECT_EQ(events_of(reordered.spools.at(0))[RR_REORDER], kThreads);
  const auto none = run_reordered("modules", {{kInsert, "none"}, {"RAYREPLAY_CAPTURE_FRAMES", "7"}});
  EXPECT_EQ(none.output, run_plain("modules").output);
  EXPECT_EQ(none.status, 0) << none.errors;
}

TEST(WithHitObjects, TheNewerExtensionDoes) {
  const auto reordered = run_reordered("modules", {{kInsert, "9: y 16 * x +"}, {"RAYREPLAY_TEST_HIT_OBJECTS", "ext"}});
  EXPECT_EQ(reordered.status, 0) << reordered.errors;
  EXPECT_EQ(reordered.output, run_plain("modules").output);
  EXPECT_THAT(reordered.errors, IsEmpty());
  const auto& content = reordered.spools.at(0);
  EXPECT_EQ(events_of(content)[RR_REORDER], kThreads);
  EXPECT_EQ(events_of(content)[RR_EXECUTE], kThreads);
  for (const auto& shader : content.shaders) {
    std::string reason;
    constexpr auto kReorderExt = static_cast<spv::Capability>(5388);
    EXPECT_EQ(spirv::parse(shader.spirv, reason)->has(kReorderExt), shader.stage == 0) << shader.name;
  }
}

// With reordering before it, everything else that the layer does to shaders does the same.
TEST(WithHitObjects, ObserveAllAndSwizzlesAreAsWithoutThem) {
  const TemporaryFolder folder;
  const auto swizzle = (folder / "swizzle.u32").string();
  {
    std::ofstream file(swizzle, std::ios::binary);
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      const auto other = static_cast<std::uint32_t>(kThreads - 1 - thread);
      file.write(reinterpret_cast<const char*>(&other), sizeof(other));
    }
  }
  const std::vector<Settings> all = {
      {{"RAYREPLAY_CAPTURE_OBSERVE_ALL", "on"}},
      {{"RAYREPLAY_CAPTURE_SWIZZLE", swizzle}, {"RAYREPLAY_CAPTURE_SWIZZLE_SIZE", "16x16"}}};
  for (Settings settings : all) {
    const auto without = run_captured("modules", settings);
    settings.emplace_back(kInsert, "8: y 16 * x + flags +");
    const auto with = run_reordered("modules", settings);
    EXPECT_EQ(with.output, without.output);
    EXPECT_EQ(with.spools.at(0).all_notes(), without.spools.at(0).all_notes());
    auto counts = events_of(with.spools.at(0));
    EXPECT_EQ(std::exchange(counts[RR_REORDER], 0), kThreads);
    EXPECT_EQ(std::exchange(counts[RR_EXECUTE], 0), kThreads);
    EXPECT_EQ(counts, events_of(without.spools.at(0)));
  }
}

}  // namespace
}  // namespace rayreplay::test
