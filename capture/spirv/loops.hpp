// Natural loops of a graph.
//
// A back edge is an edge whose target, the header, dominates its source, a latch. The loop of a header is the header
// and every node that reaches one of its latches without passing the header. A retreating edge of a depth-first search
// that is no back edge makes the graph irreducible (Hecht and Ullman, 1974): it closes a cycle with several entries,
// which is no natural loop and is not listed.
//
// Contract: loops with different headers are disjoint or nested. Only nodes that the root reaches are in loops. Almost
// linear: inner loops are collapsed by union and find, as in Tarjan, "Testing Flow Graph Reducibility" (1974).
#pragma once

#include "capture/spirv/dominators.hpp"

namespace rayreplay::spirv {

struct Loop {
  Node header = 0;
  std::uint32_t parent = kNoNode;  ///< the smallest loop around it, an index in Loops::all
  std::uint32_t depth = 1;         ///< 1: in no other loop
  std::vector<Node> latches;
};

struct Loops {
  std::vector<Loop> all;                 ///< outer loops before inner ones
  std::vector<std::uint32_t> innermost;  ///< by node: the smallest loop that holds it, kNoNode: none
  bool irreducible = false;

  /// True if the node is in the loop or in one inside it.
  [[nodiscard]] bool holds(std::uint32_t loop, Node node) const;
  [[nodiscard]] std::uint32_t depth(Node node) const {
    return innermost[node] == kNoNode ? 0 : all[innermost[node]].depth;
  }
};

/// `order`: the reverse postorder from the root of `tree`.
[[nodiscard]] Loops loops(const Graph& graph, const DominatorTree& tree, const std::vector<Node>& order);

}  // namespace rayreplay::spirv
