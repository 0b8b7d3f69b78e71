#include "capture/optimise/value_slice.hpp"

#include <algorithm>

#include "capture/spirv/operands.hpp"

namespace rayreplay::optimise {
namespace {

using spv::Op;

/// Whether the instruction, computed again in a copy, gives the same bits.
bool is_pure(const Instruction& i) {
  switch (static_cast<Op>(i.op())) {
    case Op::OpCopyObject:
    case Op::OpBitcast:
    case Op::OpIAdd:
    case Op::OpISub:
    case Op::OpIMul:
    case Op::OpBitwiseAnd:
    case Op::OpBitwiseOr:
    case Op::OpBitwiseXor:
    case Op::OpNot:
    case Op::OpShiftLeftLogical:
    case Op::OpShiftRightLogical:
    case Op::OpShiftRightArithmetic:
    case Op::OpIEqual:
    case Op::OpINotEqual:
    case Op::OpUGreaterThan:
    case Op::OpSGreaterThan:
    case Op::OpUGreaterThanEqual:
    case Op::OpSGreaterThanEqual:
    case Op::OpULessThan:
    case Op::OpSLessThan:
    case Op::OpULessThanEqual:
    case Op::OpSLessThanEqual:
    case Op::OpLogicalEqual:
    case Op::OpLogicalNotEqual:
    case Op::OpLogicalOr:
    case Op::OpLogicalAnd:
    case Op::OpLogicalNot:
    case Op::OpSelect:
      return true;
    default:
      return false;
  }
}

struct Stored {
  std::size_t block = 0, place = 0;
  Id value = 0;
  int stores = 0;
  bool is_seen_otherwise = false;  ///< by a call, an access chain, …
};

/// Local variables that hold one value: those with a single store, and loads besides.
std::unordered_map<Id, Stored> stores_of(const FunctionBlocks& function) {
  std::unordered_map<Id, Stored> stores;
  for (const auto& i : function.blocks.front()) {
    // With a value of its own it has two.
    if (i.is(Op::OpVariable) && i.size() == 4) {
      stores[i[2]];
    }
  }
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    const auto& code = function.blocks[b];
    for (std::size_t at = 0; at < code.size(); ++at) {
      const Instruction& i = code[at];
      const auto store = i.is(Op::OpStore) ? stores.find(i[1]) : stores.end();
      if (store != stores.end()) {
        store->second.block = b;
        store->second.place = at;
        store->second.value = i[2];
        ++store->second.stores;
      }
      for (const std::size_t word : spirv::id_words(i)) {
        const auto used = stores.find(i[word]);
        const bool is_plain = (i.is(Op::OpLoad) && word == 3) || (i.is(Op::OpStore) && word == 1);
        if (used != stores.end() && !is_plain) {
          used->second.is_seen_otherwise = true;
        }
      }
    }
  }
  std::erase_if(stores, [](const auto& of) { return of.second.stores != 1 || of.second.is_seen_otherwise; });
  return stores;
}

}  // namespace

Derived::Derived(const FunctionBlocks& function, const spirv::ControlFlow& flow, Id root) : root_(root) {
  const auto stores = stores_of(function);
  for (const spirv::Node node : flow.order) {
    const auto& code = function.blocks[node];
    for (std::size_t at = 0; at < code.size(); ++at) {
      const Instruction& i = code[at];
      bool is_derived = false;
      if (i.is(Op::OpLoad)) {
        const auto store = stores.find(i[3]);
        if (store != stores.end() && holds(store->second.value)) {
          const auto from = static_cast<spirv::Node>(store->second.block);
          is_derived = from == node ? store->second.place < at : flow.dominators.dominates(from, node);
          if (is_derived) {
            stored_[i[2]] = store->second.value;
          }
        }
      } else if (is_pure(i)) {
        const auto words = spirv::id_words(i);
        is_derived = std::any_of(words.begin(), words.end(), [&](std::size_t word) { return holds(i[word]); });
      }
      if (is_derived) {
        places_[i.result()] = values_.size();
        values_.push_back({node, i});
      }
    }
  }
}

Id Derived::loaded(const Instruction& load) const {
  const auto found = load.is(Op::OpLoad) ? stored_.find(load[2]) : stored_.end();
  return found == stored_.end() ? 0 : found->second;
}

std::optional<Word> computed(const Instruction& i, const Known& known, const spirv::ModuleIndex& index) {
  const auto value = [&](std::size_t word) -> std::optional<Word> {
    const auto found = known.find(i[word]);
    if (found != known.end()) {
      return found->second;
    }
    if (const Instruction* definition = index.definition(i[word]);
        definition != nullptr && (definition->is(Op::OpConstantTrue) || definition->is(Op::OpConstantFalse))) {
      return definition->is(Op::OpConstantTrue) ? 1U : 0U;
    }
    const Instruction* type = index.type(index.type_of(i[word]), Op::OpTypeInt);
    return type != nullptr && (*type)[2] == kWordBits ? index.constant(i[word]) : std::nullopt;
  };
  const Instruction* type = index.definition(i.result_type());
  const bool fits =
      type != nullptr && (type->is(Op::OpTypeBool) || (type->is(Op::OpTypeInt) && (*type)[2] == kWordBits));
  const auto a = value(3);
  if (!fits) {
    return std::nullopt;
  }
  if (i.is(Op::OpSelect)) {
    return a ? value(*a != 0 ? 4 : 5) : std::nullopt;
  }
  if (!a) {
    return std::nullopt;
  }
  const Word x = *a;
  switch (static_cast<Op>(i.op())) {
    case Op::OpCopyObject:
    case Op::OpBitcast:
      return x;
    case Op::OpNot:
      return ~x;
    case Op::OpLogicalNot:
      return x == 0 ? 1U : 0U;
    default:
      break;
  }
  const auto b = value(4);
  if (!b) {
    return std::nullopt;
  }
  const Word y = *b;
  const auto sx = static_cast<std::int32_t>(x), sy = static_cast<std::int32_t>(y);
  const auto truth = [](bool is) { return std::optional<Word>(is ? 1U : 0U); };
  switch (static_cast<Op>(i.op())) {
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
      return std::nullopt;
  }
}

}  // namespace rayreplay::optimise
