#include "capture/optimise/known_values.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

namespace rayreplay::optimise {
namespace {

using spv::Op;

std::optional<Word> truth(bool is) {
  return is ? 1U : 0U;
}

/// A float that every implementation takes as it is: no NaN, no infinity, not denormalised.
bool is_plain(Word bits) {
  return std::isnormal(std::bit_cast<float>(bits)) || (bits << 1U) == 0;
}

std::optional<Word> of_float(Op op, Word bits) {
  constexpr double kIntegers = 4294967296.0;  // 2^32
  if (!is_plain(bits)) {
    return std::nullopt;
  }
  const double x = std::bit_cast<float>(bits);
  switch (op) {
    case Op::OpConvertFToS:
      return x >= -kIntegers / 2 && x < kIntegers / 2 ? std::optional(static_cast<Word>(static_cast<std::int32_t>(x)))
                                                      : std::nullopt;
    case Op::OpConvertFToU:
      return x >= 0 && x < kIntegers ? std::optional(static_cast<Word>(x)) : std::nullopt;
    case Op::OpIsNan:
    case Op::OpIsInf:
      return 0;
    case Op::OpFNegate:
      // The sign of a zero need not be kept.
      return x != 0 ? std::optional(std::bit_cast<Word>(-std::bit_cast<float>(bits))) : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// Exact up to 2^24 alone: above it, the rounding is the implementation's.
std::optional<Word> to_float(double whole) {
  constexpr double kExact = 1 << 24;
  return std::abs(whole) <= kExact ? std::optional(std::bit_cast<Word>(static_cast<float>(whole))) : std::nullopt;
}

std::optional<Word> of_one(Op op, Word x) {
  switch (op) {
    case Op::OpCopyObject:
    case Op::OpBitcast:
      return x;
    case Op::OpNot:
      return ~x;
    case Op::OpSNegate:
      return 0U - x;
    case Op::OpLogicalNot:
      return truth(x == 0);
    case Op::OpConvertSToF:
      return to_float(static_cast<std::int32_t>(x));
    case Op::OpConvertUToF:
      return to_float(x);
    default:
      return of_float(op, x);
  }
}

std::optional<Word> of_floats(Op op, Word a, Word b) {
  if (!is_plain(a) || !is_plain(b)) {
    return std::nullopt;
  }
  const auto x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
  switch (op) {
    case Op::OpFOrdEqual:
    case Op::OpFUnordEqual:
      return truth(x == y);
    case Op::OpFOrdNotEqual:
    case Op::OpFUnordNotEqual:
      return truth(x != y);
    case Op::OpFOrdLessThan:
    case Op::OpFUnordLessThan:
      return truth(x < y);
    case Op::OpFOrdGreaterThan:
    case Op::OpFUnordGreaterThan:
      return truth(x > y);
    case Op::OpFOrdLessThanEqual:
    case Op::OpFUnordLessThanEqual:
      return truth(x <= y);
    case Op::OpFOrdGreaterThanEqual:
    case Op::OpFUnordGreaterThanEqual:
      return truth(x >= y);
    default:
      return std::nullopt;
  }
}

std::optional<Word> of_two(Op op, Word x, Word y) {
  const auto sx = static_cast<std::int32_t>(x), sy = static_cast<std::int32_t>(y);
  switch (op) {
    case Op::OpIAdd:
      return x + y;
    case Op::OpISub:
      return x - y;
    case Op::OpIMul:
      return x * y;
    case Op::OpBitwiseAnd:
    case Op::OpLogicalAnd:
      return x & y;
    case Op::OpBitwiseOr:
    case Op::OpLogicalOr:
      return x | y;
    case Op::OpBitwiseXor:
      return x ^ y;
    case Op::OpShiftLeftLogical:
      return y < kWordBits ? std::optional<Word>(x << y) : std::nullopt;
    case Op::OpShiftRightLogical:
      return y < kWordBits ? std::optional<Word>(x >> y) : std::nullopt;
    case Op::OpShiftRightArithmetic:
      return y < kWordBits ? std::optional<Word>(static_cast<Word>(sx >> y)) : std::nullopt;
    case Op::OpIEqual:
    case Op::OpLogicalEqual:
      return truth(x == y);
    case Op::OpINotEqual:
    case Op::OpLogicalNotEqual:
      return truth(x != y);
    case Op::OpUGreaterThan:
      return truth(x > y);
    case Op::OpSGreaterThan:
      return truth(sx > sy);
    case Op::OpUGreaterThanEqual:
      return truth(x >= y);
    case Op::OpSGreaterThanEqual:
      return truth(sx >= sy);
    case Op::OpULessThan:
      return truth(x < y);
    case Op::OpSLessThan:
      return truth(sx < sy);
    case Op::OpULessThanEqual:
      return truth(x <= y);
    case Op::OpSLessThanEqual:
      return truth(sx <= sy);
    default:
      return of_floats(op, x, y);
  }
}

/// One operand may decide alone.
std::optional<Word> of_truths(Op op, std::optional<Word> x, std::optional<Word> y) {
  if (x && y) {
    return of_two(op, *x, *y);
  }
  const std::optional<Word> one = x ? x : y;
  const bool decides = one && ((op == Op::OpLogicalAnd && *one == 0) || (op == Op::OpLogicalOr && *one != 0));
  return decides ? one : std::nullopt;
}

Components of_vector(const Instruction& i, const Known& known, const spirv::ModuleIndex& index,
                     const NumberType& result) {
  const auto operand = [&](std::size_t word) { return components_of(i[word], known, index); };
  switch (static_cast<Op>(i.op())) {
    case Op::OpCompositeExtract: {
      const Components whole = operand(3);
      constexpr std::size_t kOneIndex = 5;  // of a vector
      return i.size() == kOneIndex && i[4] < whole.size() ? Components{whole[i[4]]} : Components();
    }
    case Op::OpVectorShuffle: {
      Components both = operand(3);
      const Components second = operand(4);
      both.insert(both.end(), second.begin(), second.end());
      Components picked;
      for (std::size_t word = 5; word < i.size(); ++word) {
        picked.push_back(i[word] < both.size() ? both[i[word]] : std::nullopt);
      }
      return picked;
    }
    case Op::OpCompositeConstruct: {
      Components all;
      for (std::size_t word = 3; word < i.size(); ++word) {
        const Components part = operand(word);
        if (part.empty()) {
          return {};
        }
        all.insert(all.end(), part.begin(), part.end());
      }
      return all;
    }
    case Op::OpAny:
    case Op::OpAll: {
      const Word deciding = i.is(Op::OpAny) ? 1 : 0;
      const Components all = operand(3);
      if (std::ranges::find(all, std::optional<Word>(deciding)) != all.end()) {
        return {deciding};
      }
      return !all.empty() && knows_all(all) ? Components{1 - deciding} : Components();
    }
    case Op::OpSelect: {
      Components chosen = operand(3);
      const Components yes = operand(4), no = operand(5);
      if (chosen.size() == 1) {
        chosen.resize(result.components, chosen.front());
      }
      if (chosen.size() != result.components || yes.size() != chosen.size() || no.size() != chosen.size()) {
        return {};
      }
      for (std::size_t c = 0; c < chosen.size(); ++c) {
        chosen[c] = chosen[c] ? (*chosen[c] != 0 ? yes[c] : no[c]) : std::nullopt;
      }
      return chosen;
    }
    default:
      return {};
  }
}

/// An operation on each component by itself.
Components by_component(const Instruction& i, const Known& known, const spirv::ModuleIndex& index,
                        const NumberType& result) {
  constexpr std::size_t kOne = 4, kTwo = 5;  // words with one or two operands
  if (i.size() != kOne && i.size() != kTwo) {
    return {};
  }
  const auto op = static_cast<Op>(i.op());
  const Components a = components_of(i[3], known, index);
  const Components b = i.size() == kTwo ? components_of(i[4], known, index) : a;
  if (a.size() != result.components || b.size() != result.components) {
    return {};
  }
  Components all;
  for (std::size_t c = 0; c < a.size(); ++c) {
    if (i.size() == kOne) {
      all.push_back(a[c] ? of_one(op, *a[c]) : std::nullopt);
    } else {
      all.push_back(of_truths(op, a[c], b[c]));
    }
  }
  return all;
}

std::string component_text(Word bits, NumberKind kind) {
  if (kind != NumberKind::Float) {
    return std::to_string(bits);
  }
  const auto real = std::bit_cast<float>(bits);
  std::array<char, 32> digits{};
  if (std::isnan(real)) {
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), bits, 16).ptr;
    return "nan (0x" + std::string(digits.data(), end) + ")";
  }
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), real).ptr};
}

}  // namespace

std::optional<NumberType> number_type(const spirv::ModuleIndex& index, Id type) {
  NumberType result;
  if (const Instruction* vector = index.type(type, Op::OpTypeVector)) {
    result.components = (*vector)[3];
    type = (*vector)[2];
  }
  result.component = type;
  if (index.type(type, Op::OpTypeBool) != nullptr) {
    result.kind = NumberKind::Boolean;
    return result;
  }
  const Instruction* integer = index.type(type, Op::OpTypeInt);
  const Instruction* real = index.type(type, Op::OpTypeFloat);
  if (integer == nullptr && real == nullptr) {
    return std::nullopt;
  }
  result.kind = real != nullptr ? NumberKind::Float : NumberKind::Integer;
  return (*(real != nullptr ? real : integer))[2] == kWordBits ? std::optional(result) : std::nullopt;
}

Components components_of(Id value, const Known& known, const spirv::ModuleIndex& index) {
  if (const auto found = known.find(value); found != known.end()) {
    return found->second;
  }
  const auto type = number_type(index, index.type_of(value));
  const Instruction* definition = index.definition(value);
  if (!type || definition == nullptr) {
    return {};
  }
  switch (static_cast<Op>(definition->op())) {
    case Op::OpConstantTrue:
      return {1};
    case Op::OpConstantFalse:
      return {0};
    case Op::OpConstant:
      return {(*definition)[3]};
    case Op::OpConstantNull:
      return Components(type->components, Word{0});
    case Op::OpConstantComposite: {
      Components all;
      for (std::size_t word = 3; word < definition->size(); ++word) {
        const Components one = components_of((*definition)[word], {}, index);
        all.insert(all.end(), one.begin(), one.end());
      }
      return all.size() == type->components ? all : Components(type->components);
    }
    default:
      return Components(type->components);
  }
}

std::optional<Components> computed(const Instruction& i, const Known& known, const spirv::ModuleIndex& index) {
  const auto type = number_type(index, i.result_type());
  if (!type) {
    return std::nullopt;
  }
  Components result = of_vector(i, known, index, *type);
  if (result.empty()) {
    result = by_component(i, known, index, *type);
  }
  const bool knows = std::ranges::any_of(result, [](const auto& component) { return component.has_value(); });
  return knows && result.size() == type->components ? std::optional(std::move(result)) : std::nullopt;
}

std::string text_of(const Components& components, NumberKind kind) {
  std::string all;
  for (const auto& component : components) {
    all += (all.empty() ? "" : ", ") + (component ? component_text(*component, kind) : std::string("any"));
  }
  return components.size() == 1 ? all : "(" + all + ")";
}

}  // namespace rayreplay::optimise
