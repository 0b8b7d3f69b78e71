// Two copies of the code that a branch controls, and a guard that chooses between them.
//
// A block that ends in a selection gets a test instead. Where the guard holds, the code runs with what the guard proved
// (values with other names, another branch). Where it fails, a copy of the code runs as it was. Both copies compute the
// same, so the module is right for all inputs, whatever the guard says:
//
//     block: test the guard ── held ──► the code, with what is known ──► merge of this copy ──┐
//                           └─ failed ► the code as it was ────────────► merge of this copy ──┴─► merge block
//
// Contract: `find_guarded_region` gives the blocks between a selection and its merge block: those that it reaches
// without leaving a construct around it. None, with the reason in `said`, where they cannot be copied: other ways in,
// values that are used after the merge block without OpPhi, instructions that depend on other invocations or whose
// operands are not known for certain, debug information of the function. `guarded_copy` changes the function and
// returns the first blocks of both copies; their labels get the names of spirv/guard_names.hpp with the guard's text,
// so that counts of blocks of a later run count the guard (docs/optimise.md). Decorations of copied values are copied.
// Counts: the held copy keeps its blocks' counts, the failed one has none. Linear in the module.
#pragma once

#include <optional>
#include <string>

#include "capture/optimise/steps.hpp"

namespace rayreplay::optimise {

struct GuardedRegion {
  std::size_t at = 0;               ///< place of the block that branches
  Id merge = 0;                     ///< its merge block
  std::vector<std::size_t> blocks;  ///< places in the function, ascending
  std::unordered_set<Id> labels, defined;
  std::unordered_set<Id> exits;  ///< labels outside that its blocks branch to
  std::size_t instructions = 0;
};

[[nodiscard]] std::optional<GuardedRegion> find_guarded_region(const Module& module, const FunctionBlocks& function,
                                                               const spirv::ControlFlow& flow, Id label,
                                                               std::string& said);

struct Guard {
  std::string text;                                    ///< of the names
  Id condition = 0;                                    ///< a boolean of `code`
  std::vector<Instruction> code;                       ///< put before the block's branch
  std::vector<Instruction> held_code, failed_code;     ///< put before the branch of each copy
  std::unordered_map<Id, Id> renamed, failed_renamed;  ///< values that have another id in a copy
  std::optional<Instruction> held_end;                 ///< the held copy's branch; none: as it was
};

struct Copies {
  Id held = 0, failed = 0;
};

[[nodiscard]] Copies guarded_copy(Module& module, FunctionBlocks& function, const GuardedRegion& region,
                                  const Guard& guard, Counts& counts);

/// Gives copies the decorations of what they copy; `names`: the copy by the id that it copies.
void copy_decorations(Module& module, const std::unordered_map<Id, Id>& names);

/// Names the labels of the first blocks of a guard's copies, so that counts of blocks count the guard.
void name_guard(Module& module, Id held, Id failed, const std::string& text);

/// Puts each block after those that dominate it, as SPIR-V demands. Blocks that the entry does not reach come last.
void order_blocks(FunctionBlocks& function, const spirv::WideSelectors& wide);

}  // namespace rayreplay::optimise
