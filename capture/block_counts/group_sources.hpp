// Blocks that run with the same groups of lanes.
//
// A block has its predecessor's groups if the edge between them is the only one that leaves the one and the only one
// that enters the other, and nothing in the predecessor can change which lanes run: no call, no trace call, no end of
// an invocation, no lane that becomes a helper.
//
// Contract: the flow is the function's. Every reached block has a source, and a source is its own: counts of groups at
// the sources give those of all blocks. O(instructions).
#pragma once

#include <vector>

#include "capture/spirv/control_flow.hpp"
#include "capture/spirv/module.hpp"

namespace rayreplay::block_counts {

/// Whether the lanes that run behind an instruction may be others than those before it.
[[nodiscard]] bool may_change_group(const spirv::Instruction& instruction);

/// By block: the first block of those that surely run with its groups; itself for blocks that the entry does not reach.
[[nodiscard]] std::vector<spirv::Node> group_sources(const spirv::Function& function, const spirv::ControlFlow& flow);

}  // namespace rayreplay::block_counts
