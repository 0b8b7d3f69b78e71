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

/// The same of floats and vectors.
bool is_pure_with_numbers(const Instruction& i) {
  switch (static_cast<Op>(i.op())) {
    case Op::OpSNegate:
    case Op::OpFNegate:
    case Op::OpConvertFToS:
    case Op::OpConvertFToU:
    case Op::OpConvertSToF:
    case Op::OpConvertUToF:
    case Op::OpIsNan:
    case Op::OpIsInf:
    case Op::OpFOrdEqual:
    case Op::OpFUnordEqual:
    case Op::OpFOrdNotEqual:
    case Op::OpFUnordNotEqual:
    case Op::OpFOrdLessThan:
    case Op::OpFUnordLessThan:
    case Op::OpFOrdGreaterThan:
    case Op::OpFUnordGreaterThan:
    case Op::OpFOrdLessThanEqual:
    case Op::OpFUnordLessThanEqual:
    case Op::OpFOrdGreaterThanEqual:
    case Op::OpFUnordGreaterThanEqual:
    case Op::OpCompositeExtract:
    case Op::OpCompositeConstruct:
    case Op::OpVectorShuffle:
    case Op::OpAny:
    case Op::OpAll:
      return true;
    default:
      return is_pure(i);
  }
}

/// A pointer to a component of a variable, by an index.
struct Part {
  Id variable = 0, index = 0;
};

/// Access chains with one index, by result.
std::unordered_map<Id, Part> parts_of(const FunctionBlocks& function) {
  constexpr std::size_t kWithOneIndex = 5;
  std::unordered_map<Id, Part> parts;
  for (const auto& block : function.blocks) {
    for (const Instruction& i : block) {
      if ((i.is(Op::OpAccessChain) || i.is(Op::OpInBoundsAccessChain)) && i.size() == kWithOneIndex) {
        parts[i[2]] = {i[3], i[4]};
      }
    }
  }
  return parts;
}

struct Stored {
  std::size_t block = 0, place = 0;
  Id value = 0;
  int stores = 0;
  bool is_seen_otherwise = false;  ///< by a call, an access chain, …
};

/// Local variables that hold one value: those with a single store, and loads besides, of the whole or through `parts`.
std::unordered_map<Id, Stored> stores_of(const FunctionBlocks& function, const std::unordered_map<Id, Part>& parts) {
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
        const auto part = parts.find(i[word]);
        const auto used = stores.find(part == parts.end() ? i[word] : part->second.variable);
        const bool is_plain =
            (i.is(Op::OpLoad) && word == 3) ||
            (part == parts.end() && ((i.is(Op::OpStore) && word == 1) || (word == 3 && parts.contains(i.result()))));
        if (used != stores.end() && !is_plain) {
          used->second.is_seen_otherwise = true;
        }
      }
    }
  }
  std::erase_if(stores, [](const auto& of) { return of.second.stores != 1 || of.second.is_seen_otherwise; });
  return stores;
}

/// The variable that a load reads, and the index of the component.
Part source_of(const Instruction& load, const std::unordered_map<Id, Part>& parts) {
  const auto part = parts.find(load[3]);
  return part == parts.end() ? Part{load[3], 0} : part->second;
}

}  // namespace

Derived::Derived(const FunctionBlocks& function, const spirv::ControlFlow& flow, Id root, Follow follow) : root_(root) {
  const bool numbers = follow == Follow::Numbers;
  const auto parts = numbers ? parts_of(function) : std::unordered_map<Id, Part>();
  const auto stores = stores_of(function, parts);
  for (const spirv::Node node : flow.order) {
    const auto& code = function.blocks[node];
    for (std::size_t at = 0; at < code.size(); ++at) {
      const Instruction& i = code[at];
      bool is_derived = false;
      if (i.is(Op::OpLoad)) {
        const Part source = source_of(i, parts);
        const auto store = stores.find(source.variable);
        if (store != stores.end() && holds(store->second.value)) {
          const auto from = static_cast<spirv::Node>(store->second.block);
          is_derived = from == node ? store->second.place < at : flow.dominators.dominates(from, node);
          if (is_derived) {
            stored_[i[2]] = {store->second.value, source.index};
          }
        }
      } else if (numbers ? is_pure_with_numbers(i) : is_pure(i)) {
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
  return found == stored_.end() ? 0 : found->second.value;
}

Id Derived::component(const Instruction& load) const {
  const auto found = load.is(Op::OpLoad) ? stored_.find(load[2]) : stored_.end();
  return found == stored_.end() ? 0 : found->second.component;
}

std::unordered_set<Id> sources_of(const FunctionBlocks& function, Id value) {
  std::unordered_map<Id, const Instruction*> definitions;
  for (const auto& block : function.blocks) {
    for (const Instruction& i : block) {
      if (i.result() != 0) {
        definitions[i.result()] = &i;
      }
    }
  }
  const auto parts = parts_of(function);
  const auto stores = stores_of(function, parts);
  std::unordered_set<Id> sources = {value};
  std::vector<Id> open = {value};
  while (!open.empty()) {
    const auto found = definitions.find(open.back());
    open.pop_back();
    if (found == definitions.end()) {
      continue;
    }
    const Instruction& i = *found->second;
    std::vector<Id> from;
    if (i.is(Op::OpLoad)) {
      const auto store = stores.find(source_of(i, parts).variable);
      if (store != stores.end()) {
        from.push_back(store->second.value);
      }
    } else if (is_pure_with_numbers(i)) {
      from = spirv::used_ids(i);
    }
    for (const Id id : from) {
      if (sources.insert(id).second) {
        open.push_back(id);
      }
    }
  }
  return sources;
}

}  // namespace rayreplay::optimise
