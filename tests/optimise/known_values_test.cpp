// Results of instructions for known operands: those of the specification where it decides, and none where it does not.
#include "capture/optimise/known_values.hpp"

#include <array>
#include <bit>
#include <limits>

#include <gtest/gtest.h>

namespace rayreplay::optimise {
namespace {

using spv::Op;

constexpr Id kBool = 1, kInt = 2, kFloat = 3, kBools = 4, kInts = 5, kFloats = 6, kTrue = 7, kHalves = 8, kNull = 9,
             kHalf = 10, kSpec = 11, kX = 20, kY = 21, kV = 22, kW = 23, kWide = 24, kResult = 40;

/// Types and constants; the values kX, kY (floats), kV and kW (vectors of two) stand for instructions of a function.
Module types(Id scalar, Id vector) {
  Module module{0x00010500, 0, 60, 0, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  module.globals = {Instruction(Op::OpTypeBool, {kBool}),
                    Instruction(Op::OpTypeInt, {kInt, 32, 1}),
                    Instruction(Op::OpTypeFloat, {kFloat, 32}),
                    Instruction(Op::OpTypeVector, {kBools, kBool, 2}),
                    Instruction(Op::OpTypeVector, {kInts, kInt, 2}),
                    Instruction(Op::OpTypeVector, {kFloats, kFloat, 2}),
                    Instruction(Op::OpTypeFloat, {kWide, 64}),
                    Instruction(Op::OpConstantTrue, {kBool, kTrue}),
                    Instruction(Op::OpConstant, {kFloat, kHalf, 0x3F000000}),
                    Instruction(Op::OpConstantComposite, {kFloats, kHalves, kHalf, kHalf}),
                    Instruction(Op::OpConstantNull, {kFloats, kNull}),
                    Instruction(Op::OpSpecConstant, {kFloat, kSpec, 0x3F000000})};
  module.functions.resize(1);
  module.functions[0].body = {Instruction(Op::OpUndef, {scalar, kX}), Instruction(Op::OpUndef, {scalar, kY}),
                              Instruction(Op::OpUndef, {vector, kV}), Instruction(Op::OpUndef, {vector, kW})};
  return module;
}

Word bits(float of) {
  return std::bit_cast<Word>(of);
}

std::optional<Word> of_floats(Op op, Word x, Word y) {
  const Module module = types(kFloat, kFloats);
  const auto found =
      computed(Instruction(op, {kBool, kResult, kX, kY}), {{kX, {x}}, {kY, {y}}}, spirv::ModuleIndex(module));
  return found ? found->at(0) : std::nullopt;
}

TEST(KnownNumbers, FloatsCompareAsTheSpecificationSays) {
  constexpr std::array<Op, 6> kOrdered = {Op::OpFOrdEqual,       Op::OpFOrdNotEqual,      Op::OpFOrdLessThan,
                                          Op::OpFOrdGreaterThan, Op::OpFOrdLessThanEqual, Op::OpFOrdGreaterThanEqual};
  constexpr std::array<Op, 6> kUnordered = {Op::OpFUnordEqual,         Op::OpFUnordNotEqual,
                                            Op::OpFUnordLessThan,      Op::OpFUnordGreaterThan,
                                            Op::OpFUnordLessThanEqual, Op::OpFUnordGreaterThanEqual};
  const std::array<float, 6> numbers = {0.F, -0.F, 1.F, -1.5F, 3e38F, std::numeric_limits<float>::min()};
  for (const float x : numbers) {
    for (const float y : numbers) {
      const std::array<bool, 6> expected = {x == y, x != y, x<y, x> y, x <= y, x >= y};
      for (std::size_t at = 0; at < kOrdered.size(); ++at) {
        EXPECT_EQ(of_floats(kOrdered.at(at), bits(x), bits(y)), expected.at(at) ? 1U : 0U) << x << " " << y;
        EXPECT_EQ(of_floats(kUnordered.at(at), bits(x), bits(y)), expected.at(at) ? 1U : 0U) << x << " " << y;
      }
    }
    for (const Word odd : {0x7FC00001U, 0x7F800000U, 0xFF800000U, 1U, 0x807FFFFFU}) {
      EXPECT_FALSE(of_floats(Op::OpFOrdLessThan, bits(x), odd)) << std::hex << odd;
      EXPECT_FALSE(of_floats(Op::OpFUnordNotEqual, odd, bits(x))) << std::hex << odd;
    }
  }
  EXPECT_FALSE(of_floats(Op::OpFAdd, bits(1), bits(2))) << "no arithmetic";
}

std::optional<Word> converted(Op op, Id to, Word x) {
  const Module module = types(to == kFloat ? kInt : kFloat, kFloats);
  const auto found = computed(Instruction(op, {to, kResult, kX}), {{kX, {x}}}, spirv::ModuleIndex(module));
  return found ? found->at(0) : std::nullopt;
}

TEST(KnownNumbers, ConversionsAreThoseThatAreExact) {
  EXPECT_EQ(converted(Op::OpConvertFToS, kInt, bits(-2.9F)), static_cast<Word>(-2));
  EXPECT_EQ(converted(Op::OpConvertFToS, kInt, bits(-2147483648.F)), 0x80000000U);
  EXPECT_FALSE(converted(Op::OpConvertFToS, kInt, bits(2147483648.F)));
  EXPECT_FALSE(converted(Op::OpConvertFToS, kInt, 0x7FC00000));
  EXPECT_EQ(converted(Op::OpConvertFToU, kInt, bits(4294967040.F)), 4294967040U);
  EXPECT_FALSE(converted(Op::OpConvertFToU, kInt, bits(-1.F)));
  EXPECT_FALSE(converted(Op::OpConvertFToU, kInt, bits(4294967296.F)));
  EXPECT_EQ(converted(Op::OpConvertSToF, kFloat, static_cast<Word>(-3)), bits(-3));
  EXPECT_EQ(converted(Op::OpConvertUToF, kFloat, 1U << 24U), bits(16777216.F));
  EXPECT_FALSE(converted(Op::OpConvertUToF, kFloat, (1U << 24U) + 1));
  EXPECT_FALSE(converted(Op::OpConvertSToF, kFloat, 0x80000000U));
  EXPECT_EQ(converted(Op::OpFNegate, kFloat, bits(2)), bits(-2));
  EXPECT_FALSE(converted(Op::OpFNegate, kFloat, bits(0))) << "the sign of a zero";
  EXPECT_EQ(converted(Op::OpBitcast, kInt, 0x7FC00001), 0x7FC00001U);
  EXPECT_EQ(converted(Op::OpIsNan, kBool, bits(1)), 0U);
  EXPECT_FALSE(converted(Op::OpIsNan, kBool, 0x7FC00001));
  EXPECT_FALSE(converted(Op::OpConvertFToS, kWide, bits(1)));
}

TEST(KnownNumbers, VectorsAreKnownByComponent) {
  const Module module = types(kFloat, kFloats);
  const spirv::ModuleIndex index(module);
  const auto none = std::optional<Word>();
  const Known known = {{kV, {bits(.5F), none}}, {kX, {bits(2)}}};
  const auto of = [&](std::initializer_list<Word> words, Op op) {
    return computed(Instruction(op, words), known, index);
  };
  EXPECT_EQ(of({kFloat, kResult, kV, 0}, Op::OpCompositeExtract), Components{bits(.5F)});
  EXPECT_FALSE(of({kFloat, kResult, kV, 1}, Op::OpCompositeExtract));
  EXPECT_FALSE(of({kFloat, kResult, kV, 2}, Op::OpCompositeExtract));
  EXPECT_EQ(of({kFloats, kResult, kV, kHalves, 1, 2}, Op::OpVectorShuffle), (Components{none, bits(.5F)}));
  EXPECT_EQ(of({kFloats, kResult, kV, kHalves, 0xFFFFFFFF, 0}, Op::OpVectorShuffle), (Components{none, bits(.5F)}));
  EXPECT_EQ(of({kFloats, kResult, kX, kY}, Op::OpCompositeConstruct), (Components{bits(2), none}));
  EXPECT_EQ(of({kBools, kResult, kV, kHalves}, Op::OpFOrdEqual), (Components{1U, none}));
  EXPECT_EQ(of({kBools, kResult, kV, kNull}, Op::OpFOrdEqual), (Components{0U, none}));
  EXPECT_EQ(components_of(kHalves, known, index), (Components{bits(.5F), bits(.5F)}));
  EXPECT_EQ(components_of(kSpec, known, index), Components{none}) << "a specialisation constant has no known value";

  const Module truths = types(kBool, kBools);
  const spirv::ModuleIndex of_truths(truths);
  const auto vote = [&](Op op, const Components& bools) {
    const auto found = computed(Instruction(op, {kBool, kResult, kV}), {{kV, bools}}, of_truths);
    return found ? found->at(0) : std::nullopt;
  };
  EXPECT_EQ(vote(Op::OpAll, {1U, 1U}), 1U);
  EXPECT_EQ(vote(Op::OpAll, {0U, none}), 0U);
  EXPECT_EQ(vote(Op::OpAll, {1U, none}), none);
  EXPECT_EQ(vote(Op::OpAny, {1U, none}), 1U);
  EXPECT_EQ(vote(Op::OpAny, {0U, none}), none);
  EXPECT_EQ(vote(Op::OpAny, {0U, 0U}), 0U);
  const auto both = [&](Op op, std::optional<Word> x) {
    const auto found = computed(Instruction(op, {kBool, kResult, kX, kY}), {{kX, {x}}}, of_truths);
    return found ? found->at(0) : std::nullopt;
  };
  EXPECT_EQ(both(Op::OpLogicalAnd, 0U), 0U) << "whatever the other is";
  EXPECT_EQ(both(Op::OpLogicalAnd, 1U), none);
  EXPECT_EQ(both(Op::OpLogicalOr, 1U), 1U);
  EXPECT_EQ(both(Op::OpLogicalOr, 0U), none);
  EXPECT_EQ(both(Op::OpLogicalEqual, 0U), none);
}

TEST(KnownNumbers, TextsNameComponents) {
  EXPECT_EQ(text_of({Word{7}}, NumberKind::Integer), "7");
  EXPECT_EQ(text_of({bits(-0.F)}, NumberKind::Float), "-0");
  EXPECT_EQ(text_of({Word{0x7FC00001}}, NumberKind::Float), "nan (0x7fc00001)");
  EXPECT_EQ(text_of({bits(.25F), std::nullopt, bits(4)}, NumberKind::Float), "(0.25, any, 4)");
}

}  // namespace
}  // namespace rayreplay::optimise
