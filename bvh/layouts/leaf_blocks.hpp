// A tree whose leaves are nodes, for the node orders of layouts with leaf blocks.
//
// Contract: the result has the given tree's nodes with their numbers, and after them one node for every leaf, in the
// order of the leaves in `children`, without children. Every child is thus a node, and a node order with
// `siblings_together` makes all of them consecutive. There are no references: a leaf's content is in its row of the
// given tree's children. Throws Resource for 2^32 − 1 or more nodes and leaves together. O(nodes + leaves).
#pragma once

#include <cstdint>
#include <vector>

#include "bvh/tree.hpp"

namespace rayreplay::bvh {

struct TreeWithLeafBlocks {
  Tree tree;
  std::uint32_t inner_nodes = 0;        ///< nodes from this number on are leaf blocks
  std::vector<std::uint32_t> leaf_row;  ///< row in the given tree's children, for each leaf block
};

[[nodiscard]] TreeWithLeafBlocks with_leaf_blocks(const Tree& tree);

}  // namespace rayreplay::bvh
