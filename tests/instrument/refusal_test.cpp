// What is left alone, and what is said about it.
#include <gtest/gtest.h>

#include "capture/instrument/instrument.hpp"
#include "tests/instrument/support/corpus.hpp"

#include <spirv-tools/libspirv.hpp>

namespace rayreplay {
namespace {

using instrument::Status;

test::Words assemble(const std::string& text) {
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_4);
  test::Words words;
  if (!tools.Assemble(text, &words)) {
    throw std::runtime_error("the test's module does not assemble");
  }
  return words;
}

/// A ray-generation shader around `body`, which may use a pointer to the launch id.
std::string shader(const std::string& body, const std::string& parameters = "") {
  return std::string(R"(OpCapability RayTracingKHR
OpExtension "SPV_KHR_ray_tracing"
OpMemoryModel Logical GLSL450
OpEntryPoint RayGenerationKHR %main "main" %id
OpDecorate %id BuiltIn LaunchIdKHR
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%v3uint = OpTypeVector %uint 3
%input = OpTypePointer Input %v3uint
%function = OpTypePointer Function %v3uint
%input_uint = OpTypePointer Input %uint
%uint_0 = OpConstant %uint 0
%fn = OpTypeFunction %void
%fn_pointer = OpTypeFunction %void %input
%id = OpVariable %input Input
%main = OpFunction %void None )") +
         (parameters.empty() ? "%fn" : "%fn_pointer") + "\n" + parameters + R"(
%label = OpLabel
%local = OpVariable %function Function
)" + body +
         R"(
OpReturn
OpFunctionEnd
%taker = OpFunction %void None %fn_pointer
%pointer = OpFunctionParameter %input
%taker_label = OpLabel
OpReturn
OpFunctionEnd
)";
}

instrument::Options swizzled() {
  instrument::Options options = test::plain_options();
  options.swizzle = instrument::SwizzleTable{0x400, 8, 8, 1};
  return options;
}

TEST(Refusal, LaunchIdByPointerCannotBeSwizzled) {
  const test::Words words = assemble(shader("%x = OpFunctionCall %void %taker %id"));
  EXPECT_EQ(instrument::instrument(words, test::plain_options()).status, Status::Instrumented);
  const instrument::Result result = instrument::instrument(words, swizzled());
  EXPECT_EQ(result.status, Status::Refused);
  EXPECT_NE(result.reason.find("pointer"), std::string::npos) << result.reason;
  EXPECT_TRUE(result.spirv.empty());
}

TEST(Refusal, ComponentOfTheLaunchIdByPointerCannotBeSwizzled) {
  const test::Words words =
      assemble(shader("%c = OpAccessChain %input_uint %id %uint_0\n%d = OpCopyObject %input_uint %c"));
  EXPECT_EQ(instrument::instrument(words, swizzled()).status, Status::Refused);
}

TEST(Swizzle, ReadsOfTheLaunchIdInEveryFormAreReplaced) {
  const test::Words words = assemble(shader(R"(%a = OpLoad %v3uint %id
OpCopyMemory %local %id
%c = OpInBoundsAccessChain %input_uint %id %uint_0
%d = OpLoad %uint %c)"));
  const instrument::Result result = instrument::instrument(words, swizzled());
  ASSERT_EQ(result.status, Status::Instrumented) << result.reason;
  EXPECT_EQ(test::validate(result.spirv, "vulkan1.2"), "");
}

TEST(Refusal, EntryPointWithParameters) {
  const test::Words words = assemble(shader("", "%p = OpFunctionParameter %input"));
  const instrument::Result result = instrument::instrument(words, test::plain_options());
  EXPECT_EQ(result.status, Status::Refused);
  EXPECT_NE(result.reason.find("main"), std::string::npos);
}

TEST(Refusal, ShaderIdsBeyondSixteenBits) {
  instrument::Options options = test::plain_options();
  options.first_shader_id = 0xFFFF;
  EXPECT_EQ(instrument::instrument(test::corpus_module("trace.rgen").words, options).status, Status::Instrumented);
  EXPECT_EQ(instrument::instrument(test::corpus_module("shared_functions").words, options).status, Status::Refused);
}

TEST(Refusal, PhysicalAddressing) {
  test::Words words = test::corpus_module("trace.rgen").words;
  for (std::size_t at = 5; at < words.size(); at += words[at] >> 16) {
    if ((words[at] & 0xFFFF) == 14) {  // OpMemoryModel
      words[at + 1] = 2;               // Physical64
    }
  }
  EXPECT_EQ(instrument::instrument(words, test::plain_options()).status, Status::Refused);
}

TEST(Unchanged, ModulesWithoutRayTracing) {
  const test::Words& words = test::corpus_module("plain.comp").words;
  const instrument::Result result = instrument::instrument(words, test::plain_options());
  EXPECT_EQ(result.status, Status::Unchanged);
  EXPECT_TRUE(result.entry_points.empty());
  EXPECT_TRUE(instrument::entry_points(words, 0).empty());
}

TEST(EntryPoints, AreListedInModuleOrder) {
  const auto points = instrument::entry_points(test::corpus_module("library_style").words, 40);
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0].stage, instrument::Stage::RayGeneration);
  EXPECT_EQ(points[0].name, "?main_raygen@@YAXXZ");
  EXPECT_EQ(points[1].stage, instrument::Stage::Miss);
  EXPECT_EQ(points[2].stage, instrument::Stage::AnyHit);
  EXPECT_EQ(points[3].stage, instrument::Stage::ClosestHit);
  EXPECT_EQ(points[3].shader, 43);
}

TEST(Notes, SayWhatIsMissing) {
  instrument::Options options = test::plain_options();
  options.clock = true;
  const auto notes = [&](const char* name) {
    return instrument::instrument(test::corpus_module(name).words, options).notes;
  };
  EXPECT_EQ(notes("vulkan_memory_model.rgen").size(), 1U);
  EXPECT_EQ(notes("nv_report.rint").size(), 1U);
  EXPECT_TRUE(notes("trace.rgen").empty());
  options.observe_all = true;
  EXPECT_TRUE(notes("trace.rgen").empty());
  options.opacity_address = 0x3'0000'0000;
  EXPECT_EQ(notes("trace.rgen").size(), 1U);  // no memory for ray flags
  options.ray_flags_threads = 64;
  EXPECT_TRUE(notes("trace.rgen").empty());
}

}  // namespace
}  // namespace rayreplay
