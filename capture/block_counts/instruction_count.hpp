// Instructions of a block that do something: all but labels, variables, merge instructions, and debug information.
#pragma once

#include <unordered_set>

#include "capture/spirv/control_flow.hpp"

namespace rayreplay::block_counts {

class InstructionCount {
 public:
  explicit InstructionCount(const spirv::Module& module);

  [[nodiscard]] std::uint32_t of(const spirv::Function& function, const spirv::Block& block) const;

 private:
  std::unordered_set<spirv::Id> debug_sets_;  ///< imported sets of debug information
};

}  // namespace rayreplay::block_counts
