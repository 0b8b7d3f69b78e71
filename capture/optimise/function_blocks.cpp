#include "capture/optimise/function_blocks.hpp"

#include <algorithm>
#include <iterator>

namespace rayreplay::optimise {
namespace {

/// Blocks that the entry reaches.
std::unordered_set<Id> reached(const FunctionBlocks& function, const spirv::WideSelectors& wide) {
  std::unordered_map<Id, std::size_t> index;
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    index[label_of(function.blocks[b])] = b;
  }
  std::unordered_set<Id> seen = {label_of(function.blocks.front())};
  std::vector<Id> open = {label_of(function.blocks.front())};
  while (!open.empty()) {
    const Id at = open.back();
    open.pop_back();
    for (const Id to : targets(function.blocks[index.at(at)], wide)) {
      if (seen.insert(to).second) {
        open.push_back(to);
      }
    }
  }
  return seen;
}

}  // namespace

std::size_t FunctionBlocks::index_of(Id label) const {
  const auto found =
      std::find_if(blocks.begin(), blocks.end(), [&](const Code& block) { return label_of(block) == label; });
  return static_cast<std::size_t>(found - blocks.begin());
}

FunctionBlocks split(const spirv::Function& function) {
  FunctionBlocks result;
  bool inside = false;
  for (const Instruction& i : function.body) {
    if (i.is(spv::Op::OpLabel)) {
      result.blocks.emplace_back();
      inside = true;
    }
    if (inside) {
      result.blocks.back().push_back(i);
      inside = !spirv::ending_of(i.op());
    } else {
      (result.blocks.empty() ? result.head : result.tail).push_back(i);
    }
  }
  return result;
}

spirv::Function join(const FunctionBlocks& blocks) {
  spirv::Function result;
  result.body = blocks.head;
  for (const auto& block : blocks.blocks) {
    result.body.insert(result.body.end(), block.begin(), block.end());
  }
  result.body.insert(result.body.end(), blocks.tail.begin(), blocks.tail.end());
  return result;
}

const Instruction* merge_of(const FunctionBlocks::Code& block) {
  const auto found = std::find_if(block.rbegin(), block.rend(), [](const Instruction& i) {
    return i.is(spv::Op::OpSelectionMerge) || i.is(spv::Op::OpLoopMerge);
  });
  return found == block.rend() ? nullptr : &*found;
}

std::vector<Id> targets(const FunctionBlocks::Code& block, const spirv::WideSelectors& wide) {
  return spirv::targets_of(block.back(), wide.literal_words(block.back()[1]));
}

void retarget(FunctionBlocks::Code& block, Id from, Id to, const spirv::WideSelectors& wide) {
  Instruction& last = block.back();
  const auto change = [&](std::size_t word) {
    if (last[word] == from) {
      last.set(word, to);
    }
  };
  if (last.is(spv::Op::OpBranch)) {
    change(1);
  } else if (last.is(spv::Op::OpBranchConditional)) {
    change(2);
    change(3);
  } else if (last.is(spv::Op::OpSwitch)) {
    change(2);
    const std::size_t literal = wide.literal_words(last[1]);
    for (std::size_t at = 3; at + literal < last.size(); at += literal + 1) {
      change(at + literal);
    }
  }
}

bool is_spec_constant(Word op) {
  return op >= spirv::number(spv::Op::OpSpecConstantTrue) && op <= spirv::number(spv::Op::OpSpecConstantOp);
}

Id find_or_add(Module& module, spv::Op op, Id type, const std::vector<Word>& operands) {
  const std::size_t first = type == 0 ? 2 : 3;
  for (const Instruction& i : module.globals) {
    const auto words = i.operands();
    if (i.is(op) && i.size() == first + operands.size() && (type == 0 || i[1] == type) &&
        std::equal(operands.begin(), operands.end(), words.begin() + static_cast<std::ptrdiff_t>(first) - 1)) {
      return i[first - 1];
    }
  }
  const Id id = module.bound++;
  std::vector<Word> words;
  if (type != 0) {
    words.push_back(type);
  }
  words.push_back(id);
  words.insert(words.end(), operands.begin(), operands.end());
  module.globals.emplace_back(spirv::number(op), std::span<const Word>(words));
  return id;
}

void tidy(Module& module, FunctionBlocks& function, const spirv::WideSelectors& wide) {
  const auto live = reached(function, wide);
  // What merge instructions of remaining blocks name must stay.
  std::unordered_map<Id, Id> back_to;  // continue target: the loop's header
  std::unordered_set<Id> merges;
  for (const auto& block : function.blocks) {
    const Instruction* merge = live.contains(label_of(block)) ? merge_of(block) : nullptr;
    if (merge == nullptr) {
      continue;
    }
    if (!live.contains((*merge)[1])) {
      merges.insert((*merge)[1]);
    }
    if (merge->is(spv::Op::OpLoopMerge) && !live.contains((*merge)[2])) {
      back_to[(*merge)[2]] = label_of(block);
    }
  }
  std::vector<FunctionBlocks::Code> kept;
  for (auto& block : function.blocks) {
    const Id label = label_of(block);
    if (live.contains(label)) {
      kept.push_back(std::move(block));
    } else if (const auto header = back_to.find(label); header != back_to.end()) {
      kept.push_back({Instruction(spv::Op::OpLabel, {label}), Instruction(spv::Op::OpBranch, {header->second})});
    } else if (merges.contains(label)) {
      kept.push_back({Instruction(spv::Op::OpLabel, {label}),
                      Instruction(spirv::number(spv::Op::OpUnreachable), std::span<const Word>())});
    }
  }
  function.blocks = std::move(kept);
  std::unordered_map<Id, std::unordered_set<Id>> from;
  for (const auto& block : function.blocks) {
    for (const Id to : targets(block, wide)) {
      from[to].insert(label_of(block));
    }
  }
  for (auto& block : function.blocks) {
    const auto& sources = from[label_of(block)];
    for (Instruction& i : block) {
      if (!i.is(spv::Op::OpPhi)) {
        continue;
      }
      Instruction changed(spv::Op::OpPhi, {i[1], i[2]});
      for (std::size_t pair = 3; pair + 1 < i.size(); pair += 2) {
        if (sources.contains(i[pair + 1])) {
          changed.add(back_to.contains(i[pair + 1]) ? find_or_add(module, spv::Op::OpUndef, i[1], {}) : i[pair]);
          changed.add(i[pair + 1]);
        }
      }
      // The branch back of a loop whose body is gone comes from another block than before.
      for (const auto& [target, header] : back_to) {
        bool known = header != label_of(block);
        for (std::size_t pair = 3; pair + 1 < changed.size() && !known; pair += 2) {
          known = changed[pair + 1] == target;
        }
        if (!known) {
          changed.add(find_or_add(module, spv::Op::OpUndef, i[1], {}));
          changed.add(target);
        }
      }
      i = std::move(changed);
    }
  }
}

void forget_removed(Module& module) {
  std::unordered_set<Id> defined;
  for (const auto* section : {&module.imports, &module.debug, &module.annotations, &module.globals}) {
    for (const Instruction& i : *section) {
      defined.insert(i.result());
    }
  }
  for (const Instruction& i : module.debug) {
    if (i.is(spv::Op::OpString)) {
      defined.insert(i[1]);
    }
  }
  for (const auto& function : module.functions) {
    for (const Instruction& i : function.body) {
      defined.insert(i.result());
    }
  }
  const auto is_removed = [&](const Instruction& i) {
    const bool about_one = i.is(spv::Op::OpName) || i.is(spv::Op::OpMemberName) || i.is(spv::Op::OpDecorate) ||
                           i.is(spv::Op::OpDecorateId) || i.is(spv::Op::OpDecorateString) ||
                           i.is(spv::Op::OpMemberDecorate);
    return about_one && !defined.contains(i[1]);
  };
  std::erase_if(module.debug, is_removed);
  std::erase_if(module.annotations, is_removed);
}

}  // namespace rayreplay::optimise
