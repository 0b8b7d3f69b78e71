// Edges of a structured function that can have a counter of their own (SPIR-V, "Structured Control Flow").
//
// An only edge of a block is counted at the block's end, others in a new block on the edge.
//
// Contract: `can_count` is true only where the function stays valid with the new block: the edge leaves a block with a
// merge instruction, since one without needs a target that leaves the construct by itself; it is no back edge; it does
// not leave a continue construct, whose end must be the back edge's block; an edge of OpSwitch goes to the switch's own
// merge block. Linear in the loops around the edge.
#pragma once

#include <unordered_map>

#include "capture/spirv/control_flow.hpp"

namespace rayreplay::block_counts {

class EdgeSplits {
 public:
  explicit EdgeSplits(const spirv::ControlFlow& flow);

  [[nodiscard]] bool can_count(spirv::Node from, spirv::Node to) const;
  [[nodiscard]] bool needs_block(spirv::Node from) const {
    return flow_.graph.successors[from].size() > 1;
  }

 private:
  [[nodiscard]] bool leaves_continue_construct(spirv::Node from, spirv::Node to) const;

  const spirv::ControlFlow& flow_;
  std::unordered_map<spirv::Id, spirv::Node> node_of_;  ///< by label
};

}  // namespace rayreplay::block_counts
