#include "capture/optimise/guarded_copy.hpp"

#include <algorithm>

#include "capture/spirv/guard_names.hpp"
#include "capture/spirv/instruction_class.hpp"
#include "capture/spirv/operands.hpp"

namespace rayreplay::optimise {
namespace {

using Code = FunctionBlocks::Code;
using Names = std::unordered_map<Id, Id>;
using spv::Op;

Id named(const Names& names, Id id) {
  const auto found = names.find(id);
  return found == names.end() ? id : found->second;
}

bool is_between(const Instruction& i, Op first, Op last) {
  return i.op() >= spirv::number(first) && i.op() <= spirv::number(last);
}

/// Its result depends on which invocations execute it together.
bool talks(const Instruction& i) {
  return is_between(i, Op::OpGroupNonUniformElect, Op::OpGroupNonUniformQuadSwap) ||
         is_between(i, Op::OpGroupAll, Op::OpGroupSMax) || i.is(Op::OpControlBarrier) ||
         is_between(i, Op::OpDPdx, Op::OpFwidthCoarse) ||
         is_between(i, Op::OpSubgroupBallotKHR, Op::OpSubgroupReadInvocationKHR) ||
         i.is(Op::OpImageSampleImplicitLod) || i.is(Op::OpImageSampleDrefImplicitLod) ||
         i.is(Op::OpImageSampleProjImplicitLod) || i.is(Op::OpImageSampleProjDrefImplicitLod) ||
         i.is(Op::OpImageSparseSampleImplicitLod) || i.is(Op::OpImageSparseSampleDrefImplicitLod);
}

/// Functions that depend on other invocations, themselves or in what they call.
std::unordered_set<Id> talking_functions(const Module& module) {
  std::unordered_set<Id> talking;
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& function : module.functions) {
      const bool does = std::any_of(function.body.begin(), function.body.end(), [&](const Instruction& i) {
        return talks(i) || (i.is(Op::OpFunctionCall) && talking.contains(i[3]));
      });
      grew = (does && talking.insert(function.id()).second) || grew;
    }
  }
  return talking;
}

/// Whether all operands of the instruction are known, so that a copy can rename them.
bool is_understood(const Instruction& i, spirv::InstructionClass kind) {
  if (i.is(Op::OpExtInst)) {
    return kind != spirv::InstructionClass::None;  // debug information
  }
  return kind != spirv::InstructionClass::Other || is_between(i, Op::OpAtomicLoad, Op::OpAtomicXor) ||
         is_between(i, Op::OpRayQueryGetRayTMinKHR, Op::OpRayQueryGetIntersectionWorldToObjectKHR) ||
         i.is(Op::OpRayQueryGetIntersectionTypeKHR) || i.is(Op::OpMemoryBarrier);
}

/// Blocks that end the constructs around a block, or lead around their loops.
std::unordered_set<Id> construct_exits(const spirv::ControlFlow& flow, spirv::Node at) {
  std::unordered_map<Id, spirv::Node> places;
  for (spirv::Node b = 0; b < flow.blocks.size(); ++b) {
    places[flow.blocks[b].label] = b;
  }
  std::unordered_set<Id> out;
  for (spirv::Node b = 0; b < flow.blocks.size(); ++b) {
    const spirv::Block& block = flow.blocks[b];
    if (block.merge == 0 || !flow.reached(b) || !flow.dominators.dominates(b, at)) {
      continue;
    }
    const auto merge = places.find(block.merge);
    if (merge == places.end() || (flow.reached(merge->second) && flow.dominators.dominates(merge->second, at))) {
      continue;  // the construct lies before the block
    }
    out.insert(block.merge);
    if (block.continue_target != 0) {
      out.insert(block.continue_target);
      out.insert(block.label);
    }
  }
  return out;
}

/// A copy's instruction, with the copy's names for all that it uses and makes.
Instruction copied(const Instruction& i, const Names& names, const spirv::WideSelectors& wide) {
  Instruction copy = i;
  if (i.is(Op::OpLine)) {
    return copy;  // its numbers are no ids
  }
  for (const std::size_t word : spirv::id_words(i)) {
    copy.set(word, named(names, i[word]));
  }
  if (i.is(Op::OpSwitch)) {
    copy.set(2, named(names, i[2]));
    const std::size_t literal = wide.literal_words(i[1]);
    for (std::size_t at = 3; at + literal < i.size(); at += literal + 1) {
      copy.set(at + literal, named(names, i[at + literal]));
    }
  }
  if (i.result() != 0) {
    copy.set(i.result_type() != 0 ? 2 : 1, named(names, i.result()));
  }
  return copy;
}

void name_label(Module& module, Id label, const std::string& text) {
  std::vector<Word> words = {label};
  const auto string = spirv::string_words(text);
  words.insert(words.end(), string.begin(), string.end());
  module.debug.emplace_back(spirv::number(Op::OpName), std::span<const Word>(words));
}

/// The pairs of one copy in an OpPhi that stands where the copy ends.
void add_pairs(Instruction& phi, const Instruction& given, const GuardedRegion& region, Id block, Id first,
               const Names& names) {
  for (std::size_t pair = 3; pair + 1 < given.size(); pair += 2) {
    const Id from = given[pair + 1];
    if (from == block || region.labels.contains(from)) {
      phi.add(named(names, given[pair]));
      phi.add(from == block ? first : named(names, from));
    }
  }
}

bool is_from_region(const Instruction& phi, std::size_t pair, const GuardedRegion& region, Id block) {
  return phi[pair + 1] == block || region.labels.contains(phi[pair + 1]);
}

/// Executions that come to the merge block from the region, by the counts: others come by a loop's back edge.
std::uint64_t merged_executions(const FunctionBlocks& function, const GuardedRegion& region, const Counts& counts,
                                const spirv::WideSelectors& wide) {
  const auto of = [&](Id label) {
    const auto found = counts.find(label);
    return found == counts.end() ? 0 : found->second;
  };
  std::uint64_t executions = of(region.merge);
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    const Code& block = function.blocks[b];
    const bool is_outside = b != region.at && !region.labels.contains(label_of(block));
    if (is_outside && block.back().is(Op::OpBranch) && targets(block, wide).front() == region.merge) {
      executions -= std::min(executions, of(label_of(block)));
    }
  }
  return executions;
}

}  // namespace

std::optional<GuardedRegion> find_guarded_region(const Module& module, const FunctionBlocks& function,
                                                 const spirv::ControlFlow& flow, Id label, std::string& said) {
  const spirv::WideSelectors wide(module);
  GuardedRegion region;
  region.at = function.index_of(label);
  if (region.at == function.blocks.size() || !flow.reached(static_cast<spirv::Node>(region.at))) {
    return std::nullopt;
  }
  std::unordered_map<Id, std::size_t> places;
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    places[label_of(function.blocks[b])] = b;
  }
  // A block that branches into a loop: the loop is what is copied.
  const Code& first = function.blocks[region.at];
  const bool is_loop = first.back().is(Op::OpBranch) && merge_of(first) == nullptr;
  const Instruction* merge = merge_of(is_loop ? function.blocks[places.at(first.back()[1])] : first);
  if (merge == nullptr || !merge->is(is_loop ? Op::OpLoopMerge : Op::OpSelectionMerge)) {
    said = "its branch has no merge block, or is that of a loop's header";
    return std::nullopt;
  }
  region.merge = (*merge)[1];
  auto out = construct_exits(flow, static_cast<spirv::Node>(region.at));
  out.insert(region.merge);
  std::vector<Id> open = targets(function.blocks[region.at], wide);
  while (!open.empty()) {
    const Id next = open.back();
    open.pop_back();
    if (out.contains(next)) {
      region.exits.insert(next);
      continue;
    }
    if (!region.labels.insert(next).second) {
      continue;
    }
    const std::size_t b = places.at(next);
    const bool is_reached = flow.reached(static_cast<spirv::Node>(b));
    if (next == label ||
        (is_reached && !flow.dominators.dominates(static_cast<spirv::Node>(region.at), static_cast<spirv::Node>(b)))) {
      said = "its code is entered in other ways, too";
      return std::nullopt;
    }
    region.blocks.push_back(b);
    const auto to = targets(function.blocks[b], wide);
    open.insert(open.end(), to.begin(), to.end());
    // Merge and continue blocks that nothing reaches are named all the same.
    if (const Instruction* own = merge_of(function.blocks[b])) {
      open.push_back((*own)[1]);
      if (own->is(Op::OpLoopMerge)) {
        open.push_back((*own)[2]);
      }
    }
  }
  std::sort(region.blocks.begin(), region.blocks.end());
  const spirv::Classifier classes(module);
  const auto talking = talking_functions(module);
  for (const std::size_t b : region.blocks) {
    for (const Instruction& i : function.blocks[b]) {
      if (talks(i) || (i.is(Op::OpFunctionCall) && talking.contains(i[3]))) {
        said = "its code has subgroup operations, barriers or derivatives";
        return std::nullopt;
      }
      if (!is_understood(i, classes.of(i))) {
        said = "its code has instructions that are not copied";
        return std::nullopt;
      }
      if (i.result() != 0) {
        region.defined.insert(i.result());
      }
      ++region.instructions;
    }
  }
  for (const Instruction& i : module.annotations) {
    const auto words = i.operands();
    if ((i.is(Op::OpGroupDecorate) || i.is(Op::OpGroupMemberDecorate)) &&
        std::any_of(words.begin(), words.end(), [&](Word word) { return region.defined.contains(word); })) {
      said = "its values have group decorations (OpGroupDecorate)";
      return std::nullopt;
    }
  }
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    const Code& block = function.blocks[b];
    if (region.labels.contains(label_of(block))) {
      continue;
    }
    const auto to = targets(block, wide);
    if (b != region.at && std::any_of(to.begin(), to.end(), [&](Id next) { return region.labels.contains(next); })) {
      said = "its code is entered in other ways, too";
      return std::nullopt;
    }
    for (const Instruction& i : block) {
      if (i.is(Op::OpLoopMerge) && region.exits.contains(label_of(block))) {
        said = "it leads back to its loop's header";
        return std::nullopt;
      }
      if (i.is(Op::OpPhi)) {
        for (std::size_t pair = 3; pair + 1 < i.size(); pair += 2) {
          if (region.defined.contains(i[pair]) && !region.labels.contains(i[pair + 1])) {
            said = "code after it uses its values without OpPhi";
            return std::nullopt;
          }
        }
        continue;
      }
      const auto words = spirv::id_words(i);
      if (b != region.at && !i.is(Op::OpLine) && std::any_of(words.begin(), words.end(), [&](std::size_t word) {
            return region.defined.contains(i[word]) && !region.labels.contains(i[word]);
          })) {
        said = "code after it uses its values without OpPhi";
        return std::nullopt;
      }
    }
  }
  return region;
}

Copies guarded_copy(Module& module, FunctionBlocks& function, const GuardedRegion& region, const Guard& guard,
                    Counts& counts) {
  const spirv::WideSelectors wide(module);
  const Id label = label_of(function.blocks[region.at]);
  const Copies copies = {module.bound++, module.bound++};
  const Id held_merge = module.bound++, failed_merge = module.bound++;
  counts[held_merge] = merged_executions(function, region, counts, wide);
  Names held = guard.renamed, failed = guard.failed_renamed;
  held[region.merge] = held_merge;
  failed[region.merge] = failed_merge;
  for (const std::size_t b : region.blocks) {
    for (const Instruction& i : function.blocks[b]) {
      if (i.result() != 0) {
        failed[i.result()] = module.bound++;
      }
    }
  }
  Code& block = function.blocks[region.at];
  const Instruction end = block.back();
  const Instruction* own = merge_of(block);
  const Instruction control = own != nullptr ? *own : Instruction(Op::OpSelectionMerge, {region.merge, 0});
  std::erase_if(block, [&](const Instruction& i) { return i.is(Op::OpSelectionMerge); });
  block.pop_back();
  block.insert(block.end(), guard.code.begin(), guard.code.end());
  block.push_back(control);
  block.emplace_back(Op::OpBranchConditional, std::initializer_list<Word>{guard.condition, copies.held, copies.failed});

  const Instruction held_end = guard.held_end ? *guard.held_end : end;
  Code held_first = {Instruction(Op::OpLabel, {copies.held})};
  held_first.insert(held_first.end(), guard.held_code.begin(), guard.held_code.end());
  if (!held_end.is(Op::OpBranch)) {
    held_first.emplace_back(Op::OpSelectionMerge, std::initializer_list<Word>{held_merge, control[2]});
  }
  held_first.push_back(copied(held_end, held, wide));
  Code failed_first = {Instruction(Op::OpLabel, {copies.failed})};
  failed_first.insert(failed_first.end(), guard.failed_code.begin(), guard.failed_code.end());
  if (!end.is(Op::OpBranch)) {
    failed_first.emplace_back(Op::OpSelectionMerge, std::initializer_list<Word>{failed_merge, control[2]});
  }
  failed_first.push_back(copied(end, failed, wide));
  counts[copies.held] = counts.contains(label) ? counts.at(label) : 0;
  counts[copies.failed] = counts[failed_merge] = 0;

  std::vector<Code> added = {std::move(held_first), std::move(failed_first)};
  bool is_merged = false;
  const auto end_targets = spirv::targets_of(end, wide.literal_words(end[1]));
  is_merged = std::find(end_targets.begin(), end_targets.end(), region.merge) != end_targets.end();
  for (const std::size_t b : region.blocks) {
    Code& given = function.blocks[b];
    const auto to = targets(given, wide);
    is_merged = is_merged || std::find(to.begin(), to.end(), region.merge) != to.end();
    Code copy;
    for (Instruction& i : given) {
      copy.push_back(copied(i, failed, wide));
      // A value's own definition keeps its name: uses have the new one.
      const Id result = i.result();
      Instruction kept = i;
      if (!i.is(Op::OpLabel)) {
        kept = copied(i, held, wide);
        if (result != 0) {
          kept.set(i.result_type() != 0 ? 2 : 1, result);
        }
      }
      for (std::size_t pair = 3; i.is(Op::OpPhi) && pair + 1 < i.size(); pair += 2) {
        if (i[pair + 1] == label) {
          kept.set(pair + 1, copies.held);
          copy.back().set(pair + 1, copies.failed);
        }
      }
      i = std::move(kept);
    }
    counts[label_of(copy)] = 0;
    added.push_back(std::move(copy));
  }

  Code merge_held = {Instruction(Op::OpLabel, {held_merge})}, merge_failed = {Instruction(Op::OpLabel, {failed_merge})};
  for (Code& other : function.blocks) {
    const Id at = label_of(other);
    if (!region.exits.contains(at) && at != region.merge) {
      continue;
    }
    for (Instruction& i : other) {
      if (!i.is(Op::OpPhi)) {
        continue;
      }
      Instruction outer(Op::OpPhi, {i[1], i[2]});
      for (std::size_t pair = 3; pair + 1 < i.size(); pair += 2) {
        if (!is_from_region(i, pair, region, label)) {
          outer.add(i[pair]);
          outer.add(i[pair + 1]);
        }
      }
      if (at != region.merge) {
        add_pairs(outer, i, region, label, copies.held, guard.renamed);
        add_pairs(outer, i, region, label, copies.failed, failed);
      } else if (is_merged) {
        for (const bool is_held : {true, false}) {
          Instruction inner(Op::OpPhi, {i[1], module.bound++});
          add_pairs(inner, i, region, label, is_held ? copies.held : copies.failed, is_held ? guard.renamed : failed);
          outer.add(inner[2]);
          outer.add(is_held ? held_merge : failed_merge);
          (is_held ? merge_held : merge_failed).push_back(inner);
        }
      }
      i = std::move(outer);
    }
  }
  for (Code* merge : {&merge_held, &merge_failed}) {
    merge->push_back(is_merged ? Instruction(Op::OpBranch, {region.merge})
                               : Instruction(spirv::number(Op::OpUnreachable), std::span<const Word>()));
    added.push_back(*merge);
  }
  function.blocks.insert(function.blocks.end(), added.begin(), added.end());
  copy_decorations(module, failed);
  name_guard(module, copies.held, copies.failed, guard.text);
  order_blocks(function, wide);
  return copies;
}

void copy_decorations(Module& module, const std::unordered_map<Id, Id>& names) {
  std::vector<Instruction> added;
  for (const Instruction& i : module.annotations) {
    const bool about_one = i.is(Op::OpDecorate) || i.is(Op::OpDecorateId) || i.is(Op::OpDecorateString);
    if (about_one && names.contains(i[1])) {
      added.push_back(i);
      added.back().set(1, names.at(i[1]));
    }
  }
  module.annotations.insert(module.annotations.end(), added.begin(), added.end());
}

void name_guard(Module& module, Id held, Id failed, const std::string& text) {
  name_label(module, held, std::string(spirv::kGuardHeld) + text);
  name_label(module, failed, std::string(spirv::kGuardFailed) + text);
}

void order_blocks(FunctionBlocks& function, const spirv::WideSelectors& wide) {
  std::unordered_map<Id, std::size_t> places;
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    places[label_of(function.blocks[b])] = b;
  }
  // Postorder without recursion: shaders may have very many blocks in a row.
  std::vector<bool> seen(function.blocks.size());
  std::vector<std::size_t> postorder;
  std::vector<std::pair<std::size_t, std::vector<Id>>> open = {{0, targets(function.blocks[0], wide)}};
  seen[0] = true;
  while (!open.empty()) {
    auto& [block, rest] = open.back();
    if (rest.empty()) {
      postorder.push_back(block);
      open.pop_back();
      continue;
    }
    const std::size_t next = places.at(rest.back());
    rest.pop_back();
    if (!seen[next]) {
      seen[next] = true;
      open.emplace_back(next, targets(function.blocks[next], wide));
    }
  }
  std::vector<Code> ordered;
  for (auto b = postorder.rbegin(); b != postorder.rend(); ++b) {
    ordered.push_back(std::move(function.blocks[*b]));
  }
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    if (!seen[b]) {
      ordered.push_back(std::move(function.blocks[b]));
    }
  }
  function.blocks = std::move(ordered);
}

}  // namespace rayreplay::optimise
