// Accesses to images that record their texel, their probes, and accesses that are left alone.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include "capture/instrument/instrument.hpp"
#include "capture/spirv/module.hpp"
#include "tests/instrument/support/corpus.hpp"

namespace rayreplay {
namespace {

using instrument::AccessKind, instrument::AccessSpace;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A miss shader with these instructions in its block, behind loaded images and coordinates of every kind.
std::vector<std::uint32_t> with_images(const std::string& body) {
  const std::string text = R"(
    OpCapability RayTracingKHR
    OpCapability Int16
    OpCapability Int64
    OpCapability Float16
    OpCapability Sampled1D
    OpCapability SampledBuffer
    OpCapability SampledCubeArray
    OpCapability ImageGatherExtended
    OpCapability SparseResidency
    OpCapability MinLod
    OpCapability StorageImageMultisample
    OpCapability ShaderNonUniform
    OpCapability SampledImageArrayNonUniformIndexing
    OpCapability RuntimeDescriptorArray
    OpExtension "SPV_KHR_ray_tracing"
    OpExtension "SPV_EXT_descriptor_indexing"
    OpMemoryModel Logical GLSL450
    OpEntryPoint MissKHR %main "main" %id %many %stored %tex %samp %lines %cubes %texels %samples %volume %depths %counted
    OpDecorate %id BuiltIn LaunchIdKHR
    OpDecorate %many DescriptorSet 3
    OpDecorate %many Binding 7
    OpDecorate %stored DescriptorSet 2
    OpDecorate %stored Binding 5
    OpDecorate %tex DescriptorSet 1
    OpDecorate %tex Binding 1
    OpDecorate %samp DescriptorSet 1
    OpDecorate %samp Binding 2
    OpDecorate %lines DescriptorSet 1
    OpDecorate %lines Binding 3
    OpDecorate %cubes DescriptorSet 1
    OpDecorate %cubes Binding 4
    OpDecorate %texels DescriptorSet 1
    OpDecorate %texels Binding 5
    OpDecorate %samples DescriptorSet 1
    OpDecorate %samples Binding 6
    OpDecorate %volume DescriptorSet 1
    OpDecorate %volume Binding 7
    OpDecorate %depths DescriptorSet 1
    OpDecorate %depths Binding 8
    OpDecorate %counted DescriptorSet 1
    OpDecorate %counted Binding 9
    OpDecorate %chosen_p NonUniform
    OpDecorate %chosen NonUniform
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %uint = OpTypeInt 32 0
    %int = OpTypeInt 32 1
    %short = OpTypeInt 16 0
    %half = OpTypeFloat 16
    %float = OpTypeFloat 32
    %uvec2 = OpTypeVector %uint 2
    %uvec3 = OpTypeVector %uint 3
    %ivec2 = OpTypeVector %int 2
    %vec2 = OpTypeVector %float 2
    %vec3 = OpTypeVector %float 3
    %vec4 = OpTypeVector %float 4
    %hvec2 = OpTypeVector %half 2
    %uvec4 = OpTypeVector %uint 4
    %svec2 = OpTypeVector %short 2
    %sparse4 = OpTypeStruct %int %vec4
    %c0 = OpConstant %uint 0
    %c1 = OpConstant %uint 1
    %c2 = OpConstant %uint 2
    %i1 = OpConstant %int 1
    %f0 = OpConstant %float 0
    %f2 = OpConstant %float 2
    %two = OpConstantComposite %ivec2 %i1 %i1
    %n4 = OpConstant %uint 4
    %four_type = OpTypeArray %ivec2 %n4
    %four = OpConstantComposite %four_type %two %two %two %two
    %area = OpTypeImage %float 2D 0 0 0 1 Unknown
    %line_array = OpTypeImage %float 1D 0 1 0 1 Unknown
    %cube_array = OpTypeImage %float Cube 0 1 0 1 Unknown
    %texel_buffer = OpTypeImage %float Buffer 0 0 0 1 Unknown
    %multi = OpTypeImage %float 2D 0 0 1 2 Rgba32f
    %solid = OpTypeImage %float 3D 0 0 0 1 Unknown
    %depth = OpTypeImage %float 2D 1 0 0 1 Unknown
    %storage = OpTypeImage %float 2D 0 0 0 2 Rgba32f
    %counter = OpTypeImage %uint 2D 0 0 0 2 R32ui
    %sampler = OpTypeSampler
    %s_area = OpTypeSampledImage %area
    %s_line_array = OpTypeSampledImage %line_array
    %s_cube_array = OpTypeSampledImage %cube_array
    %s_solid = OpTypeSampledImage %solid
    %s_depth = OpTypeSampledImage %depth
    %descriptors = OpTypeRuntimeArray %s_area
    %p_id = OpTypePointer Input %uvec3
    %p_many = OpTypePointer UniformConstant %descriptors
    %p_s_area = OpTypePointer UniformConstant %s_area
    %p_area = OpTypePointer UniformConstant %area
    %p_lines = OpTypePointer UniformConstant %s_line_array
    %p_cubes = OpTypePointer UniformConstant %s_cube_array
    %p_texels = OpTypePointer UniformConstant %texel_buffer
    %p_multi = OpTypePointer UniformConstant %multi
    %p_solid = OpTypePointer UniformConstant %s_solid
    %p_depth = OpTypePointer UniformConstant %s_depth
    %p_storage = OpTypePointer UniformConstant %storage
    %p_counter = OpTypePointer UniformConstant %counter
    %p_sampler = OpTypePointer UniformConstant %sampler
    %p_texel = OpTypePointer Image %uint
    %id = OpVariable %p_id Input
    %many = OpVariable %p_many UniformConstant
    %stored = OpVariable %p_storage UniformConstant
    %tex = OpVariable %p_area UniformConstant
    %samp = OpVariable %p_sampler UniformConstant
    %lines = OpVariable %p_lines UniformConstant
    %cubes = OpVariable %p_cubes UniformConstant
    %texels = OpVariable %p_texels UniformConstant
    %samples = OpVariable %p_multi UniformConstant
    %volume = OpVariable %p_solid UniformConstant
    %depths = OpVariable %p_depth UniformConstant
    %counted = OpVariable %p_counter UniformConstant
    %takes = OpTypeFunction %void %p_area
    %main = OpFunction %void None %function
    %first = OpLabel
    %value = OpLoad %uvec3 %id
    %x = OpCompositeExtract %uint %value 0
    %short_x = OpUConvert %short %x
    %at = OpVectorShuffle %uvec2 %value %value 0 1
    %iat = OpBitcast %ivec2 %at
    %shorts = OpUConvert %svec2 %at
    %real = OpConvertUToF %vec2 %at
    %halves = OpFConvert %hvec2 %real
    %real3 = OpConvertUToF %vec3 %value
    %real4 = OpCompositeConstruct %vec4 %real3 %f2
    %zero4 = OpCompositeConstruct %vec4 %f0 %f0 %f0 %f0
    %l_stored = OpLoad %storage %stored
    %l_tex = OpLoad %area %tex
    %l_samp = OpLoad %sampler %samp
    %l_lines = OpLoad %s_line_array %lines
    %l_cubes = OpLoad %s_cube_array %cubes
    %l_texels = OpLoad %texel_buffer %texels
    %l_samples = OpLoad %multi %samples
    %l_volume = OpLoad %s_solid %volume
    %l_depths = OpLoad %s_depth %depths
    %chosen_p = OpAccessChain %p_s_area %many %x
    %chosen = OpLoad %s_area %chosen_p
    )" + body + R"(
    OpReturn
    OpFunctionEnd
    %other = OpFunction %void None %takes
    %given = OpFunctionParameter %p_area
    %only = OpLabel
    %l_given = OpLoad %area %given
    %taken = OpImageFetch %vec4 %l_given %two Lod %c0
    OpReturn
    OpFunctionEnd
  )";
  std::vector<std::uint32_t> words;
  EXPECT_TRUE(spvtools::SpirvTools(SPV_ENV_VULKAN_1_2).Assemble(text, &words)) << text;
  EXPECT_EQ(test::validate(words, "vulkan1.2"), "") << body;
  return words;
}

instrument::Result recorded_images(const std::string& body) {
  instrument::Options options = test::plain_options();
  options.record_accesses = true;
  options.first_shader_id = 7;
  instrument::Result result = instrument::instrument(with_images(body), options);
  EXPECT_EQ(result.status, instrument::Status::Instrumented) << result.reason;
  EXPECT_EQ(test::validate(result.spirv, "vulkan1.2"), "") << body;
  return result;
}

/// Instructions of an operation in a module.
std::size_t count_of(const std::vector<std::uint32_t>& spirv, spv::Op op) {
  std::string why;
  const auto module = spirv::parse(spirv, why);
  std::size_t count = 0;
  for (const spirv::Function& function : module->functions) {
    count += static_cast<std::size_t>(std::count_if(function.body.begin(), function.body.end(),
                                                    [&](const spirv::Instruction& i) { return i.is(op); }));
  }
  return count;
}

TEST(ImageAccesses, SitesSayWhatTheyAre) {
  const instrument::Result result = recorded_images(R"(
    %a = OpImageRead %vec4 %l_stored %iat
    OpImageWrite %l_stored %at %zero4
    %c = OpImageFetch %vec4 %l_tex %iat Lod|ConstOffset %c1 %two
    %d = OpImageSampleExplicitLod %vec4 %chosen %real Lod %f0
    %pointer = OpImageTexelPointer %p_texel %counted %at %c0
    %e = OpAtomicIAdd %uint %pointer %c1 %c0 %c1
    OpAtomicStore %pointer %c1 %c0 %x
  )");
  EXPECT_THAT(result.notes, IsEmpty());
  ASSERT_THAT(result.accesses, SizeIs(6));
  const auto expect = [&](std::size_t s, AccessKind kind, std::uint32_t set, std::uint32_t binding) {
    const instrument::AccessSite& site = result.accesses[s];
    EXPECT_THAT(site.shaders, ElementsAre(7));
    EXPECT_EQ(site.kind, kind) << s;
    EXPECT_EQ(site.space, AccessSpace::Image) << s;
    EXPECT_EQ(site.set, set) << s;
    EXPECT_EQ(site.binding, binding) << s;
    EXPECT_EQ(site.element, 0U) << s;
    EXPECT_EQ(site.bytes, 0U) << s;
  };
  expect(0, AccessKind::Load, 2, 5);
  expect(1, AccessKind::Store, 2, 5);
  expect(2, AccessKind::Load, 1, 1);
  expect(3, AccessKind::Sample, 3, 7);
  expect(4, AccessKind::Atomic, 1, 9);
  expect(5, AccessKind::Atomic, 1, 9);
  EXPECT_EQ(result.accesses[1].instruction, result.accesses[0].instruction + 1);
}

// Level 0 needs no number of levels; integers need no size.
TEST(ImageAccesses, AskImagesForNoMoreThanTheyNeed) {
  const auto queries = [](const std::string& body) {
    const instrument::Result result = recorded_images(body);
    EXPECT_THAT(result.accesses, SizeIs(1));
    return std::pair(count_of(result.spirv, spv::Op::OpImageQuerySizeLod),
                     count_of(result.spirv, spv::Op::OpImageQueryLevels));
  };
  EXPECT_EQ(queries("%a = OpImageFetch %vec4 %l_tex %iat Lod %c1\n"), std::pair(0UL, 0UL));
  EXPECT_EQ(queries("%a = OpImageSampleExplicitLod %vec4 %chosen %real Lod %f0\n"), std::pair(1UL, 0UL));
  EXPECT_EQ(queries("%a = OpImageSampleExplicitLod %vec4 %chosen %real Lod %f2\n"), std::pair(1UL, 1UL));
  EXPECT_EQ(queries("%a = OpImageGather %vec4 %chosen %real %c1\n"), std::pair(1UL, 0UL));
}

// Valid, and each a site without a note.
TEST(ImageAccesses, OfEveryFormAreRecorded) {
  for (const char* body :
       {"%s = OpSampledImage %s_area %l_tex %l_samp\n%a = OpImageSampleExplicitLod %vec4 %s %real "
        "Lod|ConstOffset %f2 %two\n",
        "%a = OpImageSampleExplicitLod %vec4 %chosen %halves Lod %f2\n",
        "%a = OpImageSampleExplicitLod %vec4 %chosen %real Grad|MinLod %real %real %f2\n",
        "%a = OpImageSampleExplicitLod %vec4 %chosen %real Grad|ConstOffset %real %real %two\n",
        "%a = OpImageSampleExplicitLod %vec4 %l_lines %real Lod %f2\n",
        "%a = OpImageSampleExplicitLod %vec4 %l_cubes %real4 Grad %real3 %real3\n",
        "%a = OpImageSampleProjExplicitLod %vec4 %l_volume %real4 Lod %f2\n",
        "%a = OpImageSampleProjExplicitLod %vec4 %chosen %real4 Lod %f2\n",
        "%a = OpImageSampleDrefExplicitLod %float %l_depths %real %f0 Lod %f2\n",
        "%a = OpImageSampleProjDrefExplicitLod %float %l_depths %real3 %f0 Lod %f2\n",
        "%a = OpImageGather %vec4 %chosen %real %c1 Offset %iat\n",
        "%a = OpImageDrefGather %vec4 %l_depths %real %f0\n", "%a = OpImageSparseRead %sparse4 %l_stored %iat\n",
        "%a = OpImageSparseFetch %sparse4 %l_tex %iat Lod %c1\n",
        "%a = OpImageSparseSampleExplicitLod %sparse4 %chosen %real Lod %f2\n",
        "%a = OpImageSparseGather %sparse4 %chosen %real %c1\n",
        "%i = OpImage %area %chosen\n%a = OpImageFetch %vec4 %i %at Lod %c1\n"}) {
    const instrument::Result result = recorded_images(body);
    EXPECT_THAT(result.notes, IsEmpty()) << body;
    EXPECT_THAT(result.accesses, SizeIs(1)) << body;
  }
}

TEST(ImageAccesses, ThatAreNotRecordedAreCounted) {
  struct Case {
    const char* body;
    const char* why;
  };
  for (const Case& of :
       {Case{"%a = OpImageFetch %vec4 %l_texels %x\n%b = OpImageFetch %vec4 %l_texels %x\n",
             "texels of 2 accesses to images are not recorded: they are of texel buffers"},
        Case{"OpImageWrite %l_samples %at %zero4 Sample %c0\n",
             "texels of 1 access to an image are not recorded: their images are multisampled"},
        Case{"%a = OpImageGather %vec4 %chosen %real %c1 ConstOffsets %four\n", "they gather at four offsets"},
        Case{"%a = OpImageFetch %vec4 %l_tex %shorts Lod %c0\n", "their operands are not of 32 bits"},
        Case{"%p = OpAccessChain %p_s_area %many %short_x\n%l = OpLoad %s_area %p\n"
             "%a = OpImageSampleExplicitLod %vec4 %l %real Lod %f0\n",
             "their operands are not of 32 bits"},
        Case{"%f = OpFunctionCall %void %other %tex\n",
             "their images are arguments of functions, chosen by control flow, or untyped"}}) {
    const instrument::Result result = recorded_images(of.body);
    EXPECT_THAT(result.notes, ElementsAre(HasSubstr(of.why))) << of.body;
    EXPECT_THAT(result.accesses, IsEmpty()) << of.body;
  }
}

}  // namespace
}  // namespace rayreplay
