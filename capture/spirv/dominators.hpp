// Dominators of a graph's nodes.
//
// Node a dominates b if every path from the root to b goes through a. The immediate dominator of b is the nearest
// dominator other than b. Post-dominators are the dominators of the reversed graph from a node behind all exits.
//
// Contract: nodes that the root does not reach have no dominator and dominate nothing. O(edges · log nodes), with the
// simple linking of Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph" (TOPLAS 1979),
// because iterative methods are quadratic on graphs that an untrusted module may hold.
#pragma once

#include "capture/spirv/graph.hpp"

namespace rayreplay::spirv {

struct DominatorTree {
  std::vector<Node> parent;           ///< immediate dominator; kNoNode: root or not reached
  std::vector<std::uint32_t> enter;   ///< number in the tree's preorder
  std::vector<std::uint32_t> beyond;  ///< one behind the last number of its descendants; 0: not reached

  [[nodiscard]] bool reached(Node node) const {
    return beyond[node] != 0;
  }
  /// True also for a == b.
  [[nodiscard]] bool dominates(Node a, Node b) const {
    return reached(a) && reached(b) && enter[a] <= enter[b] && enter[b] < beyond[a];
  }
};

[[nodiscard]] DominatorTree dominators(const Graph& graph, Node root);

}  // namespace rayreplay::spirv
