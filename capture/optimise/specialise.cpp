#include <algorithm>

#include "capture/optimise/guarded_copy.hpp"
#include "capture/optimise/value_slice.hpp"

namespace rayreplay::optimise {
namespace {

using spv::Op;

/// The target of a branch or switch whose condition or selector is known.
Id target_of(const Instruction& end, Word value) {
  if (end.is(Op::OpBranchConditional)) {
    return value != 0 ? end[2] : end[3];
  }
  for (std::size_t at = 3; at + 1 < end.size(); at += 2) {
    if (end[at] == value) {
      return end[at + 1];
    }
  }
  return end[2];
}

}  // namespace

std::optional<Word> selector_by_counts(const Module& module, const Place& place, const Counts& counts) {
  const spirv::WideSelectors wide(module);
  const FunctionBlocks function = split(module.functions[place.function]);
  const std::size_t at = function.index_of(place.label);
  const auto all = counts.find(place.label);
  if (at == function.blocks.size() || all == counts.end() || all->second == 0 ||
      !function.blocks[at].back().is(Op::OpSwitch) || wide.literal_words(function.blocks[at].back()[1]) != 1) {
    return std::nullopt;
  }
  const Instruction& end = function.blocks[at].back();
  for (std::size_t word = 3; word + 1 < end.size(); word += 2) {
    const Id target = end[word + 1];
    const auto count = counts.find(target);
    if (count == counts.end() || count->second != all->second) {
      continue;
    }
    std::size_t ways = target == end[2] ? 1 : 0;
    for (std::size_t other = 3; other + 1 < end.size(); other += 2) {
      ways += end[other + 1] == target ? 1U : 0U;
    }
    // Executions of the target are those of the value only if nothing else leads there.
    for (const auto& block : function.blocks) {
      const auto to = targets(block, wide);
      ways += label_of(block) != place.label && std::find(to.begin(), to.end(), target) != to.end() ? 1U : 0U;
    }
    if (ways == 1) {
      return end[word];
    }
  }
  return std::nullopt;
}

bool follows(const Module& module, const Place& place, Id root) {
  const spirv::WideSelectors wide(module);
  std::string reason;
  const auto flow = spirv::control_flow(module.functions[place.function], wide, reason);
  const FunctionBlocks function = split(module.functions[place.function]);
  const std::size_t at = function.index_of(place.label);
  if (!flow || at == function.blocks.size()) {
    return false;
  }
  const auto defined = std::find_if(function.blocks.begin(), function.blocks.end(), [&](const auto& block) {
    return std::any_of(block.begin(), block.end(), [&](const Instruction& i) { return i.result() == root; });
  });
  return defined != function.blocks.end() &&
         flow->dominators.dominates(static_cast<spirv::Node>(defined - function.blocks.begin()),
                                    static_cast<spirv::Node>(at)) &&
         Derived(function, *flow, root).holds(function.blocks[at].back()[1]);
}

bool specialise(Module& module, const Place& place, const KnownValue& value, bool keep_switch, Counts& counts,
                CopyLimits& limits, std::string& said) {
  const spirv::WideSelectors wide(module);
  std::string reason;
  const auto flow = spirv::control_flow(module.functions[place.function], wide, reason);
  FunctionBlocks function = split(module.functions[place.function]);
  if (!flow) {
    return false;
  }
  const auto region = find_guarded_region(module, function, *flow, place.label, said);
  if (!region) {
    return false;
  }
  if (region->instructions > limits.instructions) {
    said = "the copy would be too long";
    return false;
  }
  const spirv::ModuleIndex index(module);
  const Id root = value.value != 0 ? value.value : function.blocks[region->at].back()[1];
  const Id type = index.type_of(root);
  const Instruction* number = index.type(type, Op::OpTypeInt);
  const Instruction end = function.blocks[region->at].back();
  if (number == nullptr || (*number)[2] != kWordBits || wide.literal_words(end[1]) != 1) {
    said = "its value is no whole number of 32 bits";
    return false;
  }
  const Derived derived(function, *flow, root);
  Known known = {{root, value.bits}};
  for (const Derived::Value& of : derived.values()) {
    const Id result = of.instruction.result();
    const Id loaded = derived.loaded(of.instruction);
    if (loaded != 0) {
      if (const auto found = known.find(loaded); found != known.end()) {
        known[result] = found->second;
      }
    } else if (const auto bits = computed(of.instruction, known, index)) {
      known[result] = *bits;
    }
  }
  const auto condition = known.find(end[1]);
  if (condition == known.end()) {
    said = "its branch does not follow from the value";
    return false;
  }

  struct Constant {
    Id value, type;
    Word bits;
    bool is_truth;
  };
  std::vector<Constant> constants = {{root, type, value.bits, false}};
  for (const Derived::Value& of : derived.values()) {
    const Id result = of.instruction.result();
    const bool is_before =
        flow->dominators.dominates(static_cast<spirv::Node>(of.block), static_cast<spirv::Node>(region->at));
    if (const auto bits = known.find(result); bits != known.end() && (is_before || region->defined.contains(result))) {
      const Id result_type = of.instruction.result_type();
      constants.push_back({result, result_type, bits->second, index.type(result_type, Op::OpTypeBool) != nullptr});
    }
  }
  Guard guard;
  guard.text = "value " + std::to_string(value.bits);
  for (const Constant& constant : constants) {
    guard.renamed[constant.value] =
        constant.is_truth
            ? find_or_add(module, constant.bits != 0 ? Op::OpConstantTrue : Op::OpConstantFalse, constant.type, {})
            : find_or_add(module, Op::OpConstant, constant.type, {constant.bits});
  }
  const Id truth = find_or_add(module, Op::OpTypeBool, 0, {});
  guard.condition = module.bound++;
  guard.code = {Instruction(Op::OpIEqual, {truth, guard.condition, root, guard.renamed.at(root)})};
  const Id target = target_of(end, condition->second);
  guard.held_end = keep_switch && end.is(Op::OpSwitch) ? Instruction(Op::OpSwitch, {guard.renamed.at(end[1]), target})
                                                       : Instruction(Op::OpBranch, {target});
  const Copies copies = guarded_copy(module, function, *region, guard, counts);
  limits.instructions -= region->instructions;
  limits.held = copies.held;
  limits.failed = copies.failed;
  tidy(module, function, wide);
  module.functions[place.function] = join(function);
  forget_removed(module);
  said = std::string(end.is(Op::OpSwitch) ? "a switch" : "a branch") + " with code for the value " +
         std::to_string(value.bits) + ", the only one seen";
  return true;
}

}  // namespace rayreplay::optimise
