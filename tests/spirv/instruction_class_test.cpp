// Issue slots of instructions on vectors and matrices.
#include "capture/spirv/instruction_class.hpp"

#include <gtest/gtest.h>

#include <spirv/unified1/GLSL.std.450.h>

#include "tests/spirv/module_maker.hpp"

namespace rayreplay::spirv {
namespace {

using spv::Op;

constexpr Id kFloat = 20, kVector = 21, kMatrix = 22, kOut = 23, kPointer = 24, kA = 30, kM = 31, kS = 32, kGlsl = 50;

/// A vector of 3, a matrix of 4 columns of 3, and a scalar: values kA, kM, kS.
Module module_of_values() {
  test::ModuleMaker maker;
  maker.global(Op::OpTypeFloat, {kFloat, 32}).global(Op::OpTypeVector, {kVector, kFloat, 3});
  maker.global(Op::OpTypeMatrix, {kMatrix, kVector, 4}).global(Op::OpTypePointer, {kPointer, 12, kVector});
  maker.global(Op::OpVariable, {kPointer, kOut, 12});
  maker.global(Op::OpUndef, {kVector, kA}).global(Op::OpUndef, {kMatrix, kM}).global(Op::OpUndef, {kFloat, kS});
  Module module = maker.entry(10).function(10).label(11).end().make();
  const char name[] = "GLSL.std.450";
  std::vector<Word> words = {kGlsl};
  for (std::size_t at = 0; at < sizeof name + 3; at += 4) {
    Word word = 0;
    for (std::size_t byte = 0; byte < 4 && at + byte < sizeof name; ++byte) {
      word |= static_cast<Word>(static_cast<unsigned char>(name[at + byte])) << (8 * byte);
    }
    words.push_back(word);
  }
  module.imports.emplace_back(number(Op::OpExtInstImport), words);
  return module;
}

TEST(IssueSlots, AreOnePerComponent) {
  const Module module = module_of_values();
  const Classifier classes(module);
  const auto slots = [&](Op op, std::initializer_list<Word> operands) {
    return classes.issue_slots(Instruction(op, operands));
  };
  EXPECT_EQ(slots(Op::OpFAdd, {kVector, 40, kA, kA}), 3U);
  EXPECT_EQ(slots(Op::OpFAdd, {kFloat, 40, kS, kS}), 1U);
  EXPECT_EQ(slots(Op::OpDot, {kFloat, 40, kA, kA}), 3U) << "of the operands, not of the sum";
  EXPECT_EQ(slots(Op::OpStore, {kOut, kA}), 3U);
  EXPECT_EQ(slots(Op::OpStore, {kOut, kS}), 1U);
  EXPECT_EQ(slots(Op::OpStore, {kOut, kM}), 12U);
  EXPECT_EQ(slots(Op::OpLoad, {kVector, 40, kOut}), 3U);
  EXPECT_EQ(slots(Op::OpLoad, {kMatrix, 40, kOut}), 12U);
  EXPECT_EQ(slots(Op::OpMatrixTimesVector, {kVector, 40, kM, kA}), 12U) << "four columns of three";
  EXPECT_EQ(slots(Op::OpVectorTimesMatrix, {kVector, 40, kA, kM}), 12U);
  EXPECT_EQ(slots(Op::OpMatrixTimesScalar, {kMatrix, 40, kM, kS}), 12U);
  EXPECT_EQ(slots(Op::OpMatrixTimesMatrix, {kMatrix, 40, kM, kM}), 48U) << "twelve results of four products";
  EXPECT_EQ(slots(Op::OpExtInst, {kFloat, 40, kGlsl, GLSLstd450Length, kA}), 3U);
  EXPECT_EQ(slots(Op::OpExtInst, {kFloat, 40, kGlsl, GLSLstd450Distance, kA, kA}), 3U);
  EXPECT_EQ(slots(Op::OpExtInst, {kVector, 40, kGlsl, GLSLstd450Normalize, kA}), 3U);
  EXPECT_EQ(slots(Op::OpExtInst, {kFloat, 40, kGlsl, GLSLstd450Sqrt, kS}), 1U);
  EXPECT_EQ(slots(Op::OpVectorShuffle, {kVector, 40, kA, kA, 0, 1, 2}), 0U);
  EXPECT_EQ(slots(Op::OpDot, {kFloat}), 1U) << "a damaged instruction";
}

}  // namespace
}  // namespace rayreplay::spirv
