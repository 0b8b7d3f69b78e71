// What records of paths count, and which shaders record none.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include "capture/instrument/instrument.hpp"
#include "tests/instrument/support/corpus.hpp"

namespace rayreplay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A miss shader with so many branches, one behind the other.
std::vector<std::uint32_t> branches(int count) {
  std::string text = R"(
    OpCapability RayTracingKHR
    OpExtension "SPV_KHR_ray_tracing"
    OpMemoryModel Logical GLSL450
    OpEntryPoint MissKHR %main "main" %id
    OpDecorate %id BuiltIn LaunchIdKHR
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %uint = OpTypeInt 32 0
    %bool = OpTypeBool
    %uvec3 = OpTypeVector %uint 3
    %pointer = OpTypePointer Input %uvec3
    %id = OpVariable %pointer Input
    %zero = OpConstant %uint 0
    %main = OpFunction %void None %function
    %first = OpLabel
    %value = OpLoad %uvec3 %id
    %x = OpCompositeExtract %uint %value 0
    %some = OpINotEqual %bool %x %zero
  )";
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += "OpSelectionMerge %merge" + n + " None\nOpBranchConditional %some %then" + n + " %merge" + n + "\n%then" +
            n + " = OpLabel\nOpBranch %merge" + n + "\n%merge" + n + " = OpLabel\n";
  }
  text += "OpReturn\nOpFunctionEnd\n";
  std::vector<std::uint32_t> words;
  EXPECT_TRUE(spvtools::SpirvTools(SPV_ENV_VULKAN_1_2).Assemble(text, &words));
  return words;
}

instrument::Options with_paths() {
  instrument::Options options = test::plain_options();
  options.record_paths = true;
  options.first_shader_id = 7;
  return options;
}

TEST(Paths, CountTheArcsOutsideATree) {
  const instrument::Result result = instrument::instrument(branches(20), with_paths());
  ASSERT_EQ(result.status, instrument::Status::Instrumented) << result.reason;
  EXPECT_THAT(result.paths.shaders, ElementsAre(7));
  ASSERT_EQ(result.paths.functions.size(), 1U);
  EXPECT_THAT(result.paths.functions[0].shaders, ElementsAre(7));
  EXPECT_EQ(result.paths.functions[0].sites.size(), 21U);  // the calls, and one for each branch
  EXPECT_EQ(test::validate(result.spirv, "vulkan1.2"), "");
}

TEST(Paths, OfShadersWithTooManyCountersAreNotRecorded) {
  const instrument::Result most = instrument::instrument(branches(119), with_paths());
  EXPECT_THAT(most.paths.shaders, ElementsAre(7));
  EXPECT_THAT(most.notes, IsEmpty());
  EXPECT_EQ(test::validate(most.spirv, "vulkan1.2"), "");
  const instrument::Result beyond = instrument::instrument(branches(120), with_paths());
  EXPECT_THAT(beyond.paths.shaders, IsEmpty());
  EXPECT_THAT(beyond.paths.functions, IsEmpty());
  EXPECT_THAT(beyond.notes,
              ElementsAre(HasSubstr("no paths of entry point main: 121 counters are needed, more than 120")));
  instrument::Options without = with_paths();
  without.record_paths = false;
  EXPECT_EQ(beyond.spirv, instrument::instrument(branches(120), without).spirv);
}

TEST(Paths, NeedRecords) {
  instrument::Options options = with_paths();
  options.record = false;
  const instrument::Result result = instrument::instrument(branches(3), options);
  EXPECT_EQ(result.status, instrument::Status::Unchanged);
  EXPECT_THAT(result.paths.shaders, IsEmpty());
}

TEST(Paths, HaveTheFunctionsOfTheirShader) {
  std::size_t shared = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    const instrument::Result result = instrument::instrument(module.words, with_paths());
    EXPECT_TRUE(std::is_sorted(result.paths.shaders.begin(), result.paths.shaders.end()));
    for (const instrument::PathFunction& function : result.paths.functions) {
      EXPECT_FALSE(function.sites.empty()) << module.name;
      shared += function.shaders.size() > 1 ? 1U : 0U;
      for (const std::uint16_t shader : function.shaders) {
        EXPECT_TRUE(std::binary_search(result.paths.shaders.begin(), result.paths.shaders.end(), shader));
      }
    }
  }
  EXPECT_GT(shared, 0U);
}

}  // namespace
}  // namespace rayreplay
