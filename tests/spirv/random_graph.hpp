// Random control-flow graphs of few nodes, with chains, cycles (also irreducible ones) and unreached nodes.
#pragma once

#include <algorithm>
#include <random>

#include "capture/spirv/graph.hpp"

namespace rayreplay::test {

[[nodiscard]] inline spirv::Graph random_graph(std::mt19937& random, std::size_t most_nodes) {
  const std::size_t nodes = 1 + random() % most_nodes;
  spirv::Graph graph(nodes);
  const bool near = random() % 2 == 0;
  for (spirv::Node v = 0; v < nodes; ++v) {
    const std::size_t edges = random() % 8 == 0 ? 0 : random() % 5 == 0 ? 3 : 1 + random() % 2;
    for (std::size_t e = 0; e < edges; ++e) {
      const std::size_t to = near ? v + random() % 4 + nodes - 1 : random();
      const auto target = static_cast<spirv::Node>(to % nodes);
      const std::vector<spirv::Node>& known = graph.successors[v];
      if (std::find(known.begin(), known.end(), target) == known.end()) {
        graph.connect(v, target);
      }
    }
  }
  return graph;
}

/// By node: reached from `from` by edges between nodes that are not `without`. No node if from == without.
[[nodiscard]] inline std::vector<bool> reach(const spirv::Graph& graph, spirv::Node from, spirv::Node without) {
  std::vector<bool> seen(graph.size(), false);
  if (from == without) {
    return seen;
  }
  std::vector<spirv::Node> open = {from};
  seen[from] = true;
  while (!open.empty()) {
    const spirv::Node node = open.back();
    open.pop_back();
    for (const spirv::Node to : graph.successors[node]) {
      if (to != without && !seen[to]) {
        seen[to] = true;
        open.push_back(to);
      }
    }
  }
  return seen;
}

}  // namespace rayreplay::test
