// Which instructions record the addresses of their accesses, and which are left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include "capture/instrument/instrument.hpp"
#include "tests/instrument/support/corpus.hpp"
#include "tests/instrument/support/random_buffer_program.hpp"

namespace rayreplay {
namespace {

using instrument::AccessKind, instrument::AccessSpace;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A miss shader with these instructions in its second block, behind `%x` and `%index16`.
std::vector<std::uint32_t> accessing(const std::string& body) {
  const std::string text = R"(
    OpCapability RayTracingKHR
    OpCapability Int16
    OpCapability Int64
    OpCapability PhysicalStorageBufferAddresses
    OpCapability RuntimeDescriptorArray
    OpExtension "SPV_KHR_ray_tracing"
    OpExtension "SPV_EXT_descriptor_indexing"
    OpMemoryModel PhysicalStorageBuffer64 GLSL450
    OpEntryPoint MissKHR %main "main" %id %data %many %sizes %record
    OpDecorate %id BuiltIn LaunchIdKHR
    OpDecorate %words ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpMemberDecorate %block 1 Offset 16
    OpMemberDecorate %block 1 RowMajor
    OpMemberDecorate %block 1 MatrixStride 16
    OpMemberDecorate %block 2 Offset 64
    OpDecorate %three ArrayStride 20
    OpMemberDecorate %part 0 Offset 0
    OpMemberDecorate %part 1 Offset 8
    OpMemberDecorate %block 3 Offset 128
    OpDecorate %data DescriptorSet 2
    OpDecorate %data Binding 5
    OpDecorate %many DescriptorSet 3
    OpDecorate %many Binding 7
    OpDecorate %sizes DescriptorSet 0
    OpDecorate %sizes Binding 0
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %uint = OpTypeInt 32 0
    %short = OpTypeInt 16 0
    %ulong = OpTypeInt 64 0
    %float = OpTypeFloat 32
    %uvec3 = OpTypeVector %uint 3
    %vec2 = OpTypeVector %float 2
    %mat = OpTypeMatrix %vec2 3
    %c0 = OpConstant %uint 0
    %c1 = OpConstant %uint 1
    %c2 = OpConstant %uint 2
    %c3 = OpConstant %uint 3
    %n3 = OpConstant %uint 3
    %words = OpTypeRuntimeArray %uint
    %part = OpTypeStruct %uint %ulong
    %three = OpTypeArray %part %n3
    %block = OpTypeStruct %uint %mat %three %words
    %descriptors = OpTypeRuntimeArray %block
    %p_id = OpTypePointer Input %uvec3
    %p_block = OpTypePointer StorageBuffer %block
    %p_many = OpTypePointer StorageBuffer %descriptors
    %p_uniform = OpTypePointer Uniform %block
    %p_record = OpTypePointer ShaderRecordBufferKHR %block
    %p_uint = OpTypePointer StorageBuffer %uint
    %p_mat = OpTypePointer StorageBuffer %mat
    %p_vec2 = OpTypePointer StorageBuffer %vec2
    %p_float = OpTypePointer StorageBuffer %float
    %p_three = OpTypePointer StorageBuffer %three
    %p_uniform_uint = OpTypePointer Uniform %uint
    %p_record_uint = OpTypePointer ShaderRecordBufferKHR %uint
    %p_far = OpTypePointer PhysicalStorageBuffer %mat
    %p_function = OpTypePointer Function %three
    %id = OpVariable %p_id Input
    %data = OpVariable %p_block StorageBuffer
    %many = OpVariable %p_many StorageBuffer
    %sizes = OpVariable %p_uniform Uniform
    %record = OpVariable %p_record ShaderRecordBufferKHR
    %takes = OpTypeFunction %uint %p_uint
    %main = OpFunction %void None %function
    %first = OpLabel
    %local = OpVariable %p_function Function
    %value = OpLoad %uvec3 %id
    %x = OpCompositeExtract %uint %value 0
    %index16 = OpUConvert %short %x
    OpBranch %second
    %second = OpLabel
    )" + body + R"(
    OpReturn
    OpFunctionEnd
    %other = OpFunction %uint None %takes
    %pointer = OpFunctionParameter %p_uint
    %only = OpLabel
    %taken = OpLoad %uint %pointer
    OpReturnValue %taken
    OpFunctionEnd
  )";
  std::vector<std::uint32_t> words;
  EXPECT_TRUE(spvtools::SpirvTools(SPV_ENV_VULKAN_1_2).Assemble(text, &words)) << text;
  return words;
}

instrument::Options with_accesses() {
  instrument::Options options = test::plain_options();
  options.record_accesses = true;
  options.first_shader_id = 7;
  return options;
}

instrument::Result recorded(const std::string& body) {
  instrument::Result result = instrument::instrument(accessing(body), with_accesses());
  EXPECT_EQ(result.status, instrument::Status::Instrumented) << result.reason;
  return result;
}

TEST(Accesses, SitesSayWhatTheyAre) {
  const instrument::Result result = recorded(R"(
    %a = OpAccessChain %p_uint %data %c3 %x
    OpStore %a %x
    %all = OpAccessChain %p_three %data %c2
    %loaded = OpLoad %three %all
    %rows = OpAccessChain %p_mat %data %c1
    %matrix = OpLoad %mat %rows
    %r = OpAccessChain %p_record_uint %record %c3 %c1
    %in_record = OpLoad %uint %r
    %e = OpAccessChain %p_uint %many %c2 %c0
    %sum = OpAtomicIAdd %uint %e %c1 %c0 %c1
    OpAtomicStore %e %c1 %c0 %x
  )");
  EXPECT_THAT(result.notes, IsEmpty());
  ASSERT_THAT(result.accesses, SizeIs(6));
  const auto expect = [&](std::size_t s, std::uint32_t instruction, AccessKind kind, AccessSpace space,
                          std::uint32_t bytes) {
    const instrument::AccessSite& site = result.accesses[s];
    EXPECT_THAT(site.shaders, ElementsAre(7));
    EXPECT_EQ(site.function, 0U);
    EXPECT_EQ(site.block, 1U);
    EXPECT_EQ(site.instruction, instruction) << s;
    EXPECT_EQ(site.kind, kind) << s;
    EXPECT_EQ(site.space, space) << s;
    EXPECT_EQ(site.bytes, bytes) << s;
  };
  expect(0, 9, AccessKind::Store, AccessSpace::Descriptor, 4);
  expect(1, 11, AccessKind::Load, AccessSpace::Descriptor, 2 * 20 + 16);
  expect(2, 13, AccessKind::Load, AccessSpace::Descriptor, 16 + 12);  // two rows of three numbers
  expect(3, 15, AccessKind::Load, AccessSpace::ShaderRecord, 4);
  expect(4, 17, AccessKind::Atomic, AccessSpace::Descriptor, 4);
  expect(5, 18, AccessKind::Atomic, AccessSpace::Descriptor, 4);
  EXPECT_EQ(result.accesses[0].set, 2U);
  EXPECT_EQ(result.accesses[0].binding, 5U);
  EXPECT_EQ(result.accesses[4].set, 3U);
  EXPECT_EQ(result.accesses[4].binding, 7U);
  EXPECT_EQ(result.accesses[4].element, 2U);
}

TEST(Accesses, ThatAreNotRecordedAreCounted) {
  struct Case {
    const char* body;
    const char* why;
  };
  for (const Case& of :
       {Case{"%a = OpAccessChain %p_uint %many %x %c0\n%b = OpLoad %uint %a\n",
             "addresses of 1 access to a buffer are not recorded: they index an array of descriptors"},
        Case{"%u = OpAccessChain %p_uint %data %c0\n%f = OpFunctionCall %uint %other %u\n",
             "their pointers are arguments of functions, chosen by control flow, or untyped"},
        Case{"%a = OpAccessChain %p_uint %data %c3 %index16\n%b = OpLoad %uint %a\n%c = OpLoad %uint %a\n",
             "addresses of 2 accesses to buffers are not recorded: they have indices of 8 or 16 bits"},
        Case{"%a = OpAccessChain %p_vec2 %data %c1 %x\n%b = OpLoad %vec2 %a\n",
             "they take columns of row-major matrices"},
        Case{"%a = OpAccessChain %p_three %data %c2\nOpCopyMemory %local %a\n", "they copy memory"},
        Case{"%a = OpConvertUToPtr %p_far %far_address\n%b = OpLoad %mat %a Aligned 4\n",
             "their types have no known size"}}) {
    std::string body = of.body;
    if (const auto at = body.find("%far_address"); at != std::string::npos) {
      body.replace(at, 12, "%wide");
      body = "%wide = OpUConvert %ulong %x\n" + body;
    }
    const instrument::Result result = recorded(body);
    EXPECT_THAT(result.notes, ElementsAre(HasSubstr(of.why))) << body;
    EXPECT_THAT(result.accesses, IsEmpty()) << body;
  }
}

// Uniform blocks are other memory: neither recorded nor counted.
TEST(Accesses, OfUniformBlocksAreNotMeant) {
  const instrument::Result result = recorded("%a = OpAccessChain %p_uniform_uint %sizes %c0\n%b = OpLoad %uint %a\n");
  EXPECT_THAT(result.notes, IsEmpty());
  EXPECT_THAT(result.accesses, IsEmpty());
}

TEST(Accesses, OfRandomProgramsStayValid) {
  for (std::uint32_t seed = 100; seed < 160; ++seed) {
    const test::RandomBufferProgram program(seed, 0x1'0000'0000, 1U << 16);
    const std::vector<std::uint32_t> words = program.assemble();
    ASSERT_FALSE(words.empty()) << program.text;
    ASSERT_EQ(test::validate(words, "vulkan1.2"), "") << program.text;
    const instrument::Result result = instrument::instrument(words, with_accesses());
    ASSERT_EQ(test::validate(result.spirv, "vulkan1.2"), "") << program.text;
    EXPECT_THAT(result.accesses, SizeIs(2 * test::RandomBufferProgram::kLoads));
  }
}

TEST(Accesses, NeedRecords) {
  instrument::Options options = with_accesses();
  options.record = false;
  const auto words = accessing("%a = OpAccessChain %p_uint %data %c0\n%b = OpLoad %uint %a\n");
  EXPECT_EQ(instrument::instrument(words, options).status, instrument::Status::Unchanged);
}

}  // namespace
}  // namespace rayreplay
