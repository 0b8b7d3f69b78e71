#include "capture/block_counts/edge_split.hpp"

namespace rayreplay::block_counts {

using spirv::Ending;
using spirv::kNoNode;
using spirv::Node;

EdgeSplits::EdgeSplits(const spirv::ControlFlow& flow) : flow_(flow) {
  for (Node block = 0; block < flow.blocks.size(); ++block) {
    node_of_.emplace(flow.blocks[block].label, block);
  }
}

bool EdgeSplits::leaves_continue_construct(Node from, Node to) const {
  for (std::uint32_t l = flow_.loops.innermost[from]; l != kNoNode; l = flow_.loops.all[l].parent) {
    const Node header = flow_.loops.all[l].header;
    const auto target = node_of_.find(flow_.blocks[header].continue_target);
    const bool inside = target != node_of_.end() && flow_.dominators.dominates(target->second, from);
    if (inside && (to == header || !flow_.loops.holds(l, to))) {
      return true;
    }
  }
  return false;
}

bool EdgeSplits::can_count(Node from, Node to) const {
  if (!needs_block(from)) {
    return true;
  }
  const spirv::Block& block = flow_.blocks[from];
  const bool branches = block.ending == Ending::ConditionalBranch ||
                        (block.ending == Ending::Switch && flow_.blocks[to].label == block.merge);
  return branches && block.merge != 0 && !flow_.dominators.dominates(to, from) && !leaves_continue_construct(from, to);
}

}  // namespace rayreplay::block_counts
