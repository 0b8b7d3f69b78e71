#include <algorithm>

#include "capture/optimise/steps.hpp"

namespace rayreplay::optimise {
namespace {

/// Blocks that ran in no invocation, as far as they were counted, and may be left out.
class Dead {
 public:
  Dead(const Counts& counts, std::unordered_set<Id> kept) : counts_(counts), kept_(std::move(kept)) {}
  [[nodiscard]] bool operator()(Id label) const {
    const auto found = counts_.find(label);
    return found != counts_.end() && found->second == 0 && !kept_.contains(label);
  }

 private:
  const Counts& counts_;
  std::unordered_set<Id> kept_;
};

/// Targets that leave the innermost loop around the block: without them a loop might not end for other inputs.
std::unordered_set<Id> ways_out(const spirv::ControlFlow& flow, Id label) {
  std::unordered_set<Id> out;
  for (spirv::Node b = 0; b < flow.blocks.size(); ++b) {
    const auto loop = flow.loops.innermost[b];
    if (flow.blocks[b].label != label || loop == spirv::kNoNode) {
      continue;
    }
    for (const spirv::Node to : flow.graph.successors[b]) {
      if (!flow.loops.holds(loop, to)) {
        out.insert(flow.blocks[to].label);
      }
    }
  }
  return out;
}

void drop_selection_merge(FunctionBlocks::Code& block) {
  std::erase_if(block, [](const Instruction& i) { return i.is(spv::Op::OpSelectionMerge); });
}

bool prune_condition(FunctionBlocks::Code& block, const Dead& is_dead, std::string& said) {
  const Id yes = block.back()[2], no = block.back()[3];
  if (yes == no || is_dead(yes) == is_dead(no)) {
    return false;
  }
  if (const Instruction* merge = merge_of(block); merge != nullptr && merge->is(spv::Op::OpLoopMerge)) {
    said = "the branch of a loop's header";
    return false;
  }
  const Id taken = is_dead(yes) ? no : yes;
  drop_selection_merge(block);
  block.back() = Instruction(spv::Op::OpBranch, {taken});
  said = "a branch with one side that never ran";
  return true;
}

bool prune_switch(FunctionBlocks::Code& block, const Counts& counts, const Dead& is_dead,
                  const spirv::WideSelectors& wide, bool keep_switch, std::string& said) {
  const Instruction last = block.back();
  const std::size_t literal = wide.literal_words(last[1]);
  Id standard = last[2];
  std::size_t dead = 0;
  if (is_dead(standard)) {
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
    if (target == standard || is_dead(target)) {
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
  std::string reason;
  const auto flow = spirv::control_flow(module.functions[place.function], wide, reason);
  if (!flow) {
    return false;
  }
  const Dead is_dead(counts, ways_out(*flow, place.label));
  FunctionBlocks function = split(module.functions[place.function]);
  const std::size_t at = function.index_of(place.label);
  if (at == function.blocks.size()) {
    return false;
  }
  auto& block = function.blocks[at];
  const bool changed =
      block.back().is(spv::Op::OpBranchConditional)
          ? !keep_switch && prune_condition(block, is_dead, said)
          : block.back().is(spv::Op::OpSwitch) && prune_switch(block, counts, is_dead, wide, keep_switch, said);
  if (!changed) {
    return false;
  }
  tidy(module, function, wide);
  module.functions[place.function] = join(function);
  forget_removed(module);
  return true;
}

}  // namespace rayreplay::optimise
