#include <algorithm>

#include "capture/optimise/steps.hpp"

namespace rayreplay::optimise {
namespace {

/// Ran in no invocation, as far as it was counted.
bool is_dead(const Counts& counts, Id label) {
  const auto found = counts.find(label);
  return found != counts.end() && found->second == 0;
}

void drop_selection_merge(FunctionBlocks::Code& block) {
  std::erase_if(block, [](const Instruction& i) { return i.is(spv::Op::OpSelectionMerge); });
}

bool prune_condition(FunctionBlocks::Code& block, const Counts& counts, std::string& said) {
  const Id yes = block.back()[2], no = block.back()[3];
  if (yes == no || is_dead(counts, yes) == is_dead(counts, no)) {
    return false;
  }
  if (const Instruction* merge = merge_of(block); merge != nullptr && merge->is(spv::Op::OpLoopMerge)) {
    said = "the branch of a loop's header";
    return false;
  }
  const Id taken = is_dead(counts, yes) ? no : yes;
  drop_selection_merge(block);
  block.back() = Instruction(spv::Op::OpBranch, {taken});
  said = "a branch with one side that never ran";
  return true;
}

bool prune_switch(FunctionBlocks::Code& block, const Counts& counts, const spirv::WideSelectors& wide, bool keep_switch,
                  std::string& said) {
  const Instruction last = block.back();
  const std::size_t literal = wide.literal_words(last[1]);
  Id standard = last[2];
  std::size_t dead = 0;
  if (is_dead(counts, standard)) {
    // The most executed target takes the values that never came.
    std::uint64_t most = 0;
    for (const Id target : targets(block, wide)) {
      const auto found = counts.find(target);
      if (found == counts.end()) {
        said = "a switch with a target that was not counted";
        return false;
      }
      if (found->second > most) {
        most = found->second;
        standard = target;
      }
    }
    if (most == 0) {
      said = "a switch with no target that ran";
      return false;
    }
    ++dead;
  }
  Instruction changed(spv::Op::OpSwitch, {last[1], standard});
  for (std::size_t at = 3; at + literal < last.size(); at += literal + 1) {
    const Id target = last[at + literal];
    if (target == standard || is_dead(counts, target)) {
      ++dead;
      continue;
    }
    for (std::size_t word = 0; word <= literal; ++word) {
      changed.add(last[at + word]);
    }
  }
  if (dead == 0 || (standard == last[2] && changed.size() == last.size())) {
    return false;
  }
  if (changed.size() == 3 && !keep_switch) {
    drop_selection_merge(block);
    block.back() = Instruction(spv::Op::OpBranch, {standard});
  } else {
    block.back() = changed;
  }
  said = "a switch with " + std::to_string(dead) + " targets that never ran";
  return true;
}

}  // namespace

bool prune(Module& module, const Place& place, const Counts& counts, bool keep_switch, std::string& said) {
  const spirv::WideSelectors wide(module);
  FunctionBlocks function = split(module.functions[place.function]);
  const std::size_t at = function.index_of(place.label);
  if (at == function.blocks.size()) {
    return false;
  }
  auto& block = function.blocks[at];
  const bool changed = block.back().is(spv::Op::OpBranchConditional)
                           ? !keep_switch && prune_condition(block, counts, said)
                           : block.back().is(spv::Op::OpSwitch) && prune_switch(block, counts, wide, keep_switch, said);
  if (!changed) {
    return false;
  }
  tidy(module, function, wide);
  module.functions[place.function] = join(function);
  forget_removed(module);
  return true;
}

}  // namespace rayreplay::optimise
