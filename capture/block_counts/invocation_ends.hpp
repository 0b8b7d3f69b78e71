// Blocks in which an invocation may end before the block does: those that report an intersection (nothing behind an
// accepted one needs to run), and those that call a function with an end of the invocation in it.
#pragma once

#include <unordered_set>
#include <vector>

#include "capture/spirv/control_flow.hpp"

namespace rayreplay::block_counts {

/// Whether an invocation may end at an instruction in the middle of a block.
[[nodiscard]] bool may_end_at(const spirv::Instruction& i);

class InvocationEnds {
 public:
  /// Linear in the module.
  explicit InvocationEnds(const spirv::Module& module);

  /// By block of a function of the module.
  [[nodiscard]] std::vector<bool> blocks_of(const spirv::Function& function, const spirv::ControlFlow& flow) const;

 private:
  std::unordered_set<spirv::Id> functions_;  ///< in which, or below which, an invocation may end
};

}  // namespace rayreplay::block_counts
