#include <algorithm>
#include <map>

#include "capture/optimise/steps.hpp"

namespace rayreplay::optimise {
namespace {

using Code = FunctionBlocks::Code;

/// One target of a switch, with the values that select it.
struct Case {
  Id target = 0;
  std::vector<Word> values;
};

std::vector<Case> cases_of(const Instruction& last) {
  std::vector<Case> cases;
  for (std::size_t at = 3; at + 1 < last.size(); at += 2) {
    auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.target == last[at + 1]; });
    if (found == cases.end()) {
      found = cases.insert(cases.end(), Case{last[at + 1], {}});
    }
    found->values.push_back(last[at]);
  }
  return cases;
}

/// The type of a value that the function or the module defines; 0: unknown.
Id type_of(const Module& module, const spirv::Function& function, Id value) {
  for (const auto* code : {&function.body, &module.globals}) {
    for (const Instruction& i : *code) {
      if (i.result() == value) {
        return i.result_type();
      }
    }
  }
  return 0;
}

bool is_word(const Module& module, Id type) {
  return std::any_of(module.globals.begin(), module.globals.end(),
                     [&](const Instruction& i) { return i.is(spv::Op::OpTypeInt) && i[1] == type && i[2] == 32; });
}

/// Labels of the blocks that `from` dominates: those that the entry does not reach without it.
std::unordered_set<Id> dominated(const spirv::ControlFlow& flow, Id from) {
  std::unordered_set<Id> result;
  spirv::Node top = spirv::kNoNode;
  for (spirv::Node b = 0; b < flow.blocks.size(); ++b) {
    top = flow.blocks[b].label == from ? b : top;
  }
  for (spirv::Node b = 0; top != spirv::kNoNode && b < flow.blocks.size(); ++b) {
    if (flow.dominators.dominates(top, b)) {
      result.insert(flow.blocks[b].label);
    }
  }
  return result;
}

/// Moves the pairs of a merge block's OpPhi that do not come from `stay` to the inner merge block.
void split_phis(Module& module, Code& merge, Code& inner, Id block, Id rest, const std::unordered_set<Id>& stay) {
  for (Instruction& i : merge) {
    if (!i.is(spv::Op::OpPhi)) {
      continue;
    }
    const Id id = module.bound++;
    Instruction outer_phi(spv::Op::OpPhi, {i[1], i[2]}), inner_phi(spv::Op::OpPhi, {i[1], id});
    for (std::size_t pair = 3; pair + 1 < i.size(); pair += 2) {
      const bool outer = stay.contains(i[pair + 1]);
      Instruction& to = outer ? outer_phi : inner_phi;
      to.add(i[pair]);
      to.add(!outer && i[pair + 1] == block ? rest : i[pair + 1]);
    }
    if (inner_phi.size() > 3) {
      inner.push_back(inner_phi);
      outer_phi.add(id);
      outer_phi.add(label_of(inner));
    }
    i = std::move(outer_phi);
  }
}

struct Chosen {
  Case hot;
  std::uint64_t executions = 0;
};

/// The case that is worth to be tested first; empty target: none.
Chosen choose(const FunctionBlocks& function, const Code& block, Id merge, const Counts& counts, std::uint64_t all,
              const spirv::WideSelectors& wide, std::string& said) {
  const auto cases = cases_of(block.back());
  const Id standard = block.back()[2];
  for (const Case& c : cases) {
    const auto count = counts.find(c.target);
    if (count == counts.end() || count->second > all || count->second * 2 <= all) {
      continue;
    }
    if (c.target == standard || c.target == merge) {
      said = "its hottest case is the default or does nothing";
      return {};
    }
    if (cases.size() < 2 || c.values.size() > kMostPeeledValues) {
      said = c.values.size() > kMostPeeledValues ? "its hottest case has too many values" : "it has one case";
      return {};
    }
    for (const Code& other : function.blocks) {
      const auto to = targets(other, wide);
      if (label_of(other) != label_of(block) && std::find(to.begin(), to.end(), c.target) != to.end()) {
        said = "another case falls into its hottest one";
        return {};
      }
    }
    return {c, count->second};
  }
  said = "no case has more than half of its executions";
  return {};
}

/// The condition that the selector is one of the values: its code goes to the block's end.
Id condition(Module& module, Code& block, Id selector, Id type, const std::vector<Word>& values) {
  const Id truth = find_or_add(module, spv::Op::OpTypeBool, 0, {});
  Id result = 0;
  for (const Word value : values) {
    const Id constant = find_or_add(module, spv::Op::OpConstant, type, {value});
    const Id equal = module.bound++;
    block.emplace_back(spv::Op::OpIEqual, std::initializer_list<Word>{truth, equal, selector, constant});
    if (result != 0) {
      const Id any = module.bound++;
      block.emplace_back(spv::Op::OpLogicalOr, std::initializer_list<Word>{truth, any, result, equal});
      result = any;
    } else {
      result = equal;
    }
  }
  return result;
}

}  // namespace

bool peel(Module& module, const Place& place, Counts& counts, Id& rest, std::string& said) {
  const spirv::WideSelectors wide(module);
  const spirv::Function& given = module.functions[place.function];
  std::string reason;
  const auto flow = spirv::control_flow(given, wide, reason);
  FunctionBlocks function = split(given);
  const std::size_t at = function.index_of(place.label);
  const auto all = counts.find(place.label);
  if (!flow || at == function.blocks.size() || all == counts.end() ||
      !function.blocks[at].back().is(spv::Op::OpSwitch)) {
    return false;
  }
  const Instruction* merge_instruction = merge_of(function.blocks[at]);
  const Instruction last = function.blocks[at].back();
  const Id type = type_of(module, given, last[1]);
  if (merge_instruction == nullptr || !is_word(module, type)) {
    said = "it has no merge block, or its selector does not have 32 bits";
    return false;
  }
  const Instruction merge = *merge_instruction;
  const auto chosen = choose(function, function.blocks[at], merge[1], counts, all->second, wide, said);
  if (chosen.hot.target == 0) {
    return false;
  }
  const auto hot = dominated(*flow, chosen.hot.target);
  // A branch back to a merge block that is also a loop's header lies behind the switch.
  const auto behind = dominated(*flow, merge[1]);
  auto stays = hot;
  stays.insert(behind.begin(), behind.end());
  const auto inside = dominated(*flow, place.label);
  rest = module.bound++;
  const Id inner = module.bound++;

  Code rest_block = {Instruction(spv::Op::OpLabel, {rest}), Instruction(spv::Op::OpSelectionMerge, {inner, merge[2]})};
  Instruction selection(spv::Op::OpSwitch, {last[1], last[2] == merge[1] ? inner : last[2]});
  for (std::size_t word = 3; word + 1 < last.size(); word += 2) {
    if (last[word + 1] != chosen.hot.target) {
      selection.add(last[word]);
      selection.add(last[word + 1] == merge[1] ? inner : last[word + 1]);
    }
  }
  rest_block.push_back(selection);

  Code& block = function.blocks[at];
  block.erase(block.end() - 2, block.end());
  const Id test = condition(module, block, last[1], type, chosen.hot.values);
  block.emplace_back(merge);
  block.emplace_back(spv::Op::OpBranchConditional, std::initializer_list<Word>{test, chosen.hot.target, rest});

  bool is_merged =
      std::find(selection.operands().begin(), selection.operands().end(), inner) != selection.operands().end();
  std::unordered_set<Id> entered;  // by the switch that remains
  for (const Id to : targets(rest_block, wide)) {
    entered.insert(to);
  }
  for (Code& other : function.blocks) {
    const Id label = label_of(other);
    if (label != place.label && inside.contains(label) && !stays.contains(label)) {
      const auto to = targets(other, wide);
      if (std::find(to.begin(), to.end(), merge[1]) != to.end()) {
        retarget(other, merge[1], inner, wide);
        is_merged = true;
      }
    }
    if (entered.contains(label)) {
      for (Instruction& i : other) {
        for (std::size_t pair = 3; i.is(spv::Op::OpPhi) && pair + 1 < i.size(); pair += 2) {
          i.set(pair + 1, i[pair + 1] == place.label ? rest : i[pair + 1]);
        }
      }
    }
  }
  Code inner_block = {Instruction(spv::Op::OpLabel, {inner})};
  const std::size_t merge_at = function.index_of(merge[1]);
  split_phis(module, function.blocks[merge_at], inner_block, place.label, rest, stays);
  inner_block.push_back(is_merged ? Instruction(spv::Op::OpBranch, {merge[1]})
                                  : Instruction(spirv::number(spv::Op::OpUnreachable), std::span<const Word>()));
  function.blocks.insert(function.blocks.begin() + static_cast<std::ptrdiff_t>(merge_at), std::move(inner_block));
  function.blocks.insert(function.blocks.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(rest_block));
  counts[rest] = all->second - chosen.executions;
  counts[inner] = all->second - chosen.executions;
  module.functions[place.function] = join(function);
  said = "value " + std::to_string(chosen.hot.values.front()) + " of a switch with " +
         std::to_string(cases_of(last).size()) + " cases is tested first";
  return true;
}

}  // namespace rayreplay::optimise
