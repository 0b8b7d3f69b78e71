// A tree whose leaves are records of their own, as node orders see it for layouts with leaf blocks.
//
// Contract: the result has the given tree's nodes under their numbers, and behind them one node for every leaf, in the
// order of the leaves in `children`; such a node has no children. Every child of a given node is thus a node, and a
// node order with `siblings_together` puts all of them side by side. There are no references: what a leaf holds is said
// by its row of the given tree's children. Throws Resource when nodes and leaves together would need 2^32 − 1 numbers
// or more. O(nodes + leaves).
#pragma once

#include <cstdint>
#include <vector>

#include "bvh/tree.hpp"

namespace rayreplay::bvh {

struct TreeWithLeafBlocks {
  Tree tree;
  std::uint32_t inner_nodes = 0;        ///< nodes from this number on are leaf blocks
  std::vector<std::uint32_t> leaf_row;  ///< of the given tree's children, for each leaf block
};

[[nodiscard]] TreeWithLeafBlocks with_leaf_blocks(const Tree& tree);

}  // namespace rayreplay::bvh
