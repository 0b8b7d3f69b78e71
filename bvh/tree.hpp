// A bounding volume hierarchy in a builder's output form, before it has a layout.
//
// Contract: node 0 is the root. A tree over nothing has no nodes; any other tree has at least one, whose children may
// all be leaves. Children of a node are rows [first_child, first_child + child_count) of `children`. A child with count
// 0 is the node `index`; otherwise it is the leaf of references [index, index + count). References are the numbers of
// the builder's input: primitives of a bottom-level structure, instances of a top-level one; spatial splits may name
// one several times. Boxes of leaves contain their (clipped) primitives, boxes of nodes their children, all exactly
// (minimum and maximum of floats, no rounding). Deterministic: the same input gives the same tree for any number of
// threads.
#pragma once

#include <cstdint>
#include <vector>

#include "bvh/geometry/box.hpp"

namespace rayreplay::bvh {

struct TreeChild {
  Box box;
  std::uint32_t index = 0;
  std::uint32_t count = 0;

  [[nodiscard]] bool is_leaf() const {
    return count > 0;
  }
};

struct TreeNode {
  std::uint32_t first_child = 0;
  std::uint32_t child_count = 0;
};

struct Tree {
  std::vector<TreeNode> nodes;
  std::vector<TreeChild> children;
  std::vector<std::uint32_t> references;
  Box bounds;

  [[nodiscard]] bool empty() const {
    return nodes.empty();
  }
};

}  // namespace rayreplay::bvh
