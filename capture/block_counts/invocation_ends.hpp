// Blocks in which an invocation may end before the block does.
//
// Contract: an invocation may end at a report of an intersection (nothing behind an accepted one needs to run), an
// ignored intersection, the end of a ray, a demotion to a helper (which counts nothing), and a call of a function in
// which, or below which, an invocation may end. O(instructions of the module), then O(instructions) of a function.
#pragma once

#include <unordered_set>
#include <vector>

#include "capture/spirv/control_flow.hpp"

namespace rayreplay::block_counts {

/// Whether an invocation may end at an instruction in the middle of a block.
[[nodiscard]] bool may_end_at(const spirv::Instruction& i);

class InvocationEnds {
 public:
  explicit InvocationEnds(const spirv::Module& module);

  /// By block of a function of the module.
  [[nodiscard]] std::vector<bool> blocks_of(const spirv::Function& function, const spirv::ControlFlow& flow) const;

 private:
  std::unordered_set<spirv::Id> functions_;  ///< in which, or below which, an invocation may end
};

}  // namespace rayreplay::block_counts
