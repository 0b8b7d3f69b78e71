// A function of a module as a list of blocks that can be changed, and the repair of a module after such changes.
//
// Contract: `split` takes functions whose body is a list of blocks (spirv::control_flow accepts them); `join` puts the
// function together again. `tidy` removes blocks that the entry no longer reaches. A block that a merge instruction
// still names stays as SPIR-V demands: a merge block as OpUnreachable, a continue target as the branch back; neither
// runs. OpPhi loses the pairs of removed predecessors. `forget_removed` drops names and decorations of ids that no
// instruction defines any more. Linear in the module.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "capture/spirv/control_flow.hpp"
#include "capture/spirv/module.hpp"

namespace rayreplay::optimise {

using spirv::Id;
using spirv::Instruction;
using spirv::Module;
using spirv::Word;

/// Executions by a block's label; a block that was not counted is absent.
using Counts = std::unordered_map<Id, std::uint64_t>;

/// Of the numbers that steps compute with.
inline constexpr Word kWordBits = 32;

struct FunctionBlocks {
  using Code = std::vector<Instruction>;  ///< OpLabel to the instruction that ends the block

  std::vector<Instruction> head;  ///< OpFunction and its parameters
  std::vector<Code> blocks;
  std::vector<Instruction> tail;  ///< OpFunctionEnd

  [[nodiscard]] std::size_t index_of(Id label) const;  ///< blocks.size(): none
};

[[nodiscard]] FunctionBlocks split(const spirv::Function& function);
[[nodiscard]] spirv::Function join(const FunctionBlocks& blocks);

[[nodiscard]] inline Id label_of(const FunctionBlocks::Code& block) {
  return block.front()[1];
}
/// OpSelectionMerge or OpLoopMerge before the block's end; null: none.
[[nodiscard]] const Instruction* merge_of(const FunctionBlocks::Code& block);

/// Labels that the block's end names.
[[nodiscard]] std::vector<Id> targets(const FunctionBlocks::Code& block, const spirv::WideSelectors& wide);

/// Makes every target `from` of the block's end a `to`.
void retarget(FunctionBlocks::Code& block, Id from, Id to, const spirv::WideSelectors& wide);

[[nodiscard]] bool is_spec_constant(Word op);

/// A type or constant of the module with these words behind the result, added if there is none.
[[nodiscard]] Id find_or_add(Module& module, spv::Op op, Id type, const std::vector<Word>& operands);

void tidy(Module& module, FunctionBlocks& function, const spirv::WideSelectors& wide);
void forget_removed(Module& module);

}  // namespace rayreplay::optimise
