// Recomputes a tree's boxes from those of its leaves.
//
// Contract: `enlarge_leaves` moves the planes of every leaf's box outward by `share` of the box's diagonal, rounded
// outward, and recomputes the boxes of the nodes and the tree's bounds. A box never exceeds the finite floats. 0
// changes nothing. O(nodes).
#pragma once

#include "bvh/tree.hpp"

namespace rayreplay::bvh {

void enlarge_leaves(Tree& tree, double share);

}  // namespace rayreplay::bvh
