// The tree of an encoded level, with the boxes that traversals test.
//
// Contract: node 0 is record 0; nodes are numbered depth-first in slot order, references are the level's. Infinite
// planes of a layout are moved to the level's bounds, so that areas are finite. An empty level gives an empty tree.
// O(nodes).
#pragma once

#include "bvh/layout.hpp"
#include "bvh/tree.hpp"

namespace rayreplay::bvh {

[[nodiscard]] Tree decoded_tree(const Layout& layout, const Level& level);

/// `box` with its infinite planes moved to those of `bounds`.
[[nodiscard]] Box finite_box(const Box& box, const Box& bounds);

}  // namespace rayreplay::bvh
