// Facts of odd modules: what is left alone is said, the rest is right.
#include "capture/spirv/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/spirv/known_module.hpp"
#include "tests/spirv/module_maker.hpp"

namespace rayreplay {
namespace {

using spv::Op;
using test::ModuleMaker;
using testing::Contains;
using testing::HasSubstr;

/// Facts of the first entry point, and what they refer to.
struct Found {
  explicit Found(const ModuleMaker& maker)
      : known(maker.make()), module(spirv::facts_of(known.analysed, 0)), shader(module.shaders.at(0)) {}
  test::Known known;
  spirv::ModuleFacts module;
  const spirv::ShaderFacts& shader;
};

TEST(Facts, RecursionIsSaid) {
  ModuleMaker maker;
  maker.entry(20).function(20).label(21).add(Op::OpFunctionCall, {ModuleMaker::kVoid, 22, 30}).end();
  maker.function(30).label(31).add(Op::OpFunctionCall, {ModuleMaker::kVoid, 32, 30}).end();
  const Found found(maker);
  EXPECT_TRUE(found.shader.recursion);
  EXPECT_FALSE(found.shader.has_liveness);
  EXPECT_THAT(found.shader.notes, Contains(HasSubstr("recursion")));
  EXPECT_EQ(found.shader.blocks, 2U);
}

TEST(Facts, IrreducibleControlFlowHasLiveStateOnly) {
  // 21 → 22, 23; 22 → 23; 23 → 22, 24: two entries into the cycle.
  ModuleMaker maker;
  maker.entry(20).function(20);
  maker.label(21).add(Op::OpLoad, {ModuleMaker::kUint, 40, ModuleMaker::kInput});
  maker.add(Op::OpBranchConditional, {ModuleMaker::kTrue, 22, 23});
  maker.label(22).add(Op::OpReorderThreadWithHintNV, {}).add(Op::OpBranch, {23});
  maker.label(23).add(Op::OpIAdd, {ModuleMaker::kUint, 41, 40, 40});
  maker.add(Op::OpBranchConditional, {ModuleMaker::kTrue, 22, 24});
  maker.label(24).end();
  const Found found(maker);
  EXPECT_TRUE(found.shader.irreducible);
  EXPECT_EQ(found.shader.loops, 0U);
  EXPECT_FALSE(found.shader.has_divergence);
  EXPECT_THAT(found.shader.notes, Contains(HasSubstr("irreducible")));
  ASSERT_EQ(found.shader.calls.size(), 1U);
  EXPECT_EQ(found.shader.calls[0].live.bytes(), 4U);
}

TEST(Facts, UnusedCodeIsListed) {
  ModuleMaker maker;
  maker.entry(20).function(20).label(21).add(Op::OpReturn, {});
  maker.label(22).add(Op::OpUnreachable, {});  // an empty merge block
  maker.label(23).add(Op::OpIAdd, {ModuleMaker::kUint, 40, 8, 8}).end();
  maker.function(50).label(51).end();
  const Found found(maker);
  EXPECT_EQ(found.module.unused_functions, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(found.shader.unreached_blocks, (std::vector<std::pair<std::uint32_t, spirv::Node>>{{0, 2}}));
  EXPECT_EQ(found.shader.blocks, 1U);
  EXPECT_EQ(found.shader.instructions[static_cast<std::size_t>(spirv::InstructionClass::Arithmetic)], 0U);
}

TEST(Facts, BrokenFunctionsAreSaid) {
  ModuleMaker maker;
  maker.entry(20).function(20).label(21).add(Op::OpBranch, {99}).add(Op::OpFunctionEnd, {});
  const Found found(maker);
  EXPECT_FALSE(found.shader.has_liveness);
  EXPECT_THAT(found.shader.notes, Contains(HasSubstr("branches to 99")));
  ModuleMaker none;
  none.entry(77);
  EXPECT_THAT(Found(none).shader.notes, Contains(HasSubstr("no function")));
}

TEST(Facts, CopiesBeyondTheLimitsAreLeftAlone) {
  ModuleMaker doubling;
  doubling.entry(1000);
  ModuleMaker deep;
  deep.entry(1000);
  for (spirv::Id f = 1000; f < 1030; ++f) {
    doubling.function(f).label(f + 5000);
    doubling.add(Op::OpFunctionCall, {ModuleMaker::kVoid, f + 10'000, f + 1});
    doubling.add(Op::OpLoad, {ModuleMaker::kUint, f + 15'000, ModuleMaker::kInput});
    doubling.add(Op::OpFunctionCall, {ModuleMaker::kVoid, f + 20'000, f + 1}).end();
  }
  doubling.function(1030).label(9000).end();
  EXPECT_THAT(Found(doubling).shader.notes, Contains(HasSubstr("instructions with all calls inlined")));
  for (spirv::Id f = 1000; f < 1100; ++f) {
    deep.function(f).label(f + 5000).add(Op::OpFunctionCall, {ModuleMaker::kVoid, f + 10'000, f + 1}).end();
  }
  deep.function(1100).label(9000).end();
  EXPECT_THAT(Found(deep).shader.notes, Contains(HasSubstr("deep")));
}

TEST(Facts, CallsThatAreNotFollowedAreSaid) {
  ModuleMaker maker;
  maker.entry(20).function(20).label(21);
  maker.add(Op::OpFunctionCall, {ModuleMaker::kUint, 22, 30});
  maker.add(Op::OpIEqual, {ModuleMaker::kBool, 23, 22, ModuleMaker::kZero});
  maker.add(Op::OpBranchConditional, {23, 24, 25}).label(24).add(Op::OpBranch, {25}).label(25).end();
  const Found found(maker);
  EXPECT_THAT(found.shader.notes, Contains(HasSubstr("not followed")));
  ASSERT_EQ(found.shader.branches.size(), 1U);
  EXPECT_EQ(found.shader.branches[0].level, spirv::Level::Divergent);
}

TEST(Facts, HugeSwitchesAreTaken) {
  constexpr spirv::Word kCases = 20'000;
  ModuleMaker maker;
  maker.entry(20).function(20).label(21).add(Op::OpLoad, {ModuleMaker::kUint, 40, ModuleMaker::kInput});
  spirv::Instruction jump(Op::OpSwitch, {40, 22});
  for (spirv::Word c = 0; c < kCases; ++c) {
    jump.add(c);
    jump.add(30'000 + c);
  }
  maker.add(std::move(jump));
  for (spirv::Word c = 0; c < kCases; ++c) {
    maker.label(30'000 + c).add(Op::OpBranch, {22});
  }
  maker.label(22).end();
  const Found found(maker);
  EXPECT_EQ(found.shader.blocks, kCases + 2);
  ASSERT_EQ(found.shader.branches.size(), 1U);
  EXPECT_EQ(found.shader.branches[0].level, spirv::Level::Divergent);
}

TEST(Facts, ArraysWithVaryingIndicesAreLiveAsAWhole) {
  // An array of 10 numbers, of which a constant index writes one; then a call; then a varying index reads.
  for (const bool varying : {false, true}) {
    ModuleMaker maker;
    maker.global(Op::OpConstant, {ModuleMaker::kUint, 60, 10}).global(Op::OpTypeArray, {61, ModuleMaker::kUint, 60});
    maker.global(Op::OpTypePointer, {62, 7, 61});
    maker.entry(20).function(20).label(21).add(Op::OpVariable, {62, 63, 7});
    maker.add(Op::OpLoad, {ModuleMaker::kUint, 64, ModuleMaker::kInput});
    maker.add(Op::OpAccessChain, {ModuleMaker::kPointer, 65, 63, varying ? 64U : ModuleMaker::kZero});
    maker.add(Op::OpStore, {65, ModuleMaker::kZero}).add(Op::OpReorderThreadWithHintNV, {});
    maker.add(Op::OpAccessChain, {ModuleMaker::kPointer, 66, 63, varying ? 64U : ModuleMaker::kZero});
    maker.add(Op::OpLoad, {ModuleMaker::kUint, 67, 66}).end();
    const Found found(maker);
    ASSERT_EQ(found.shader.calls.size(), 1U);
    EXPECT_EQ(found.shader.calls[0].live.slot_bytes, varying ? 40U : 4U);
    EXPECT_EQ(found.shader.calls[0].live.value_bytes, varying ? 4U : 0U);  // the index
  }
}

/// A type that names itself, or a length that comes later, is no reason to go on for ever.
TEST(Facts, TypesThatNameThemselvesAreTaken) {
  ModuleMaker maker;
  maker.global(Op::OpTypeStruct, {60, 60, 60, 60}).global(Op::OpTypePointer, {61, 7, 60});
  maker.global(Op::OpTypeArray, {62, ModuleMaker::kUint, 63})
      .global(Op::OpConstant, {ModuleMaker::kUint, 63, 0xFFFFFFF});
  maker.global(Op::OpTypePointer, {64, 7, 62}).global(Op::OpTypeVector, {65, 65, 4});
  maker.entry(20).function(20).label(21).add(Op::OpVariable, {61, 70, 7}).add(Op::OpVariable, {64, 71, 7}).end();
  EXPECT_TRUE(Found(maker).shader.notes.empty());
}

TEST(InstructionClasses, OfKnownInstructions) {
  spirv::Module module = ModuleMaker().make();
  module.imports.emplace_back(Op::OpExtInstImport,
                              std::initializer_list<spirv::Word>{80, 0x4C534C47, 0x6474732E, 0x3035342E, 0});
  module.globals.emplace_back(Op::OpTypePointer, std::initializer_list<spirv::Word>{81, 12, 2});
  module.globals.emplace_back(Op::OpVariable, std::initializer_list<spirv::Word>{81, 82, 12});
  module.globals.emplace_back(Op::OpVariable, std::initializer_list<spirv::Word>{5, 83, 7});
  const spirv::Classifier classes(module);
  using Class = spirv::InstructionClass;
  const auto of = [&](Op op, std::initializer_list<spirv::Word> operands) {
    return classes.of(spirv::Instruction(op, operands));
  };
  EXPECT_EQ(of(Op::OpFMul, {2, 90, 8, 8}), Class::Arithmetic);
  EXPECT_EQ(of(Op::OpExtInst, {2, 90, 80, 31, 8}), Class::Special);        // Sqrt
  EXPECT_EQ(of(Op::OpExtInst, {2, 90, 80, 40, 8, 8}), Class::Arithmetic);  // FMax
  EXPECT_EQ(of(Op::OpLoad, {2, 90, 82}), Class::Load);
  EXPECT_EQ(of(Op::OpStore, {82, 8}), Class::Store);
  EXPECT_EQ(of(Op::OpLoad, {2, 90, 83}), Class::Move);
  EXPECT_EQ(of(Op::OpStore, {83, 8}), Class::Move);
  EXPECT_EQ(of(Op::OpImageRead, {2, 90, 8, 8}), Class::Texture);
  EXPECT_EQ(of(Op::OpBranch, {21}), Class::Control);
  EXPECT_EQ(of(Op::OpTraceRayKHR, {}), Class::Trace);
  EXPECT_EQ(of(Op::OpAtomicIAdd, {2, 90, 82, 8, 8, 8}), Class::Other);
  EXPECT_EQ(of(Op::OpLabel, {21}), Class::None);
  EXPECT_EQ(classes.of(spirv::Instruction(spirv::kOpHitObjectExecuteShaderEXT, {})), Class::Trace);
  EXPECT_EQ(classes.of(spirv::Instruction(60'000, {})), Class::Other);
}

}  // namespace
}  // namespace rayreplay
