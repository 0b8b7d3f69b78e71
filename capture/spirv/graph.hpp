// A directed graph of numbered nodes, and the orders in which its algorithms visit them.
//
// Contract: nodes are 0 … size − 1; a node's successors are distinct. All functions are iterative, so that a long chain
// of untrusted blocks cannot exhaust the stack, and linear in nodes and edges.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace rayreplay::spirv {

using Node = std::uint32_t;
inline constexpr Node kNoNode = std::numeric_limits<Node>::max();

struct Graph {
  std::vector<std::vector<Node>> successors, predecessors;

  explicit Graph(std::size_t nodes = 0) : successors(nodes), predecessors(nodes) {}
  [[nodiscard]] std::size_t size() const {
    return successors.size();
  }
  /// Adds an edge that is not there yet.
  void connect(Node from, Node to) {
    successors[from].push_back(to);
    predecessors[to].push_back(from);
  }
};

/// A depth-first search from one node, successors in their order.
struct DepthFirst {
  std::vector<Node> preorder;           ///< reached nodes
  std::vector<Node> reverse_postorder;  ///< reached nodes: without cycles, each after all its predecessors
  std::vector<Node> parent;             ///< by node; kNoNode: root or not reached
};

[[nodiscard]] DepthFirst depth_first(const Graph& graph, Node root);

/// The graph with all edges reversed.
[[nodiscard]] Graph reversed(const Graph& graph);

}  // namespace rayreplay::spirv
