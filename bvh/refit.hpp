// Boxes of a tree formed anew from those of its leaves.
//
// Contract: `enlarge_leaves` pushes the planes of every leaf's box outward by `share` of the box's diagonal, rounded
// outward, and forms the boxes of the nodes and the tree's bounds from them. A box never grows beyond the finite
// floats. 0 changes nothing. O(nodes).
#pragma once

#include "bvh/tree.hpp"

namespace rayreplay::bvh {

void enlarge_leaves(Tree& tree, double share);

}  // namespace rayreplay::bvh
