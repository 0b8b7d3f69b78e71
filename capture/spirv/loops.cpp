#include "capture/spirv/loops.hpp"

#include <algorithm>

namespace rayreplay::spirv {
namespace {

/// Nodes of loops that are known collapse into their headers.
class Collapsed {
 public:
  explicit Collapsed(std::size_t nodes) : into_(nodes) {
    for (Node v = 0; v < nodes; ++v) {
      into_[v] = v;
    }
  }
  Node find(Node v) {
    while (into_[v] != v) {
      into_[v] = into_[into_[v]];
      v = into_[v];
    }
    return v;
  }
  void collapse(Node v, Node header) {
    into_[v] = header;
  }

 private:
  std::vector<Node> into_;
};

}  // namespace

bool Loops::holds(std::uint32_t loop, Node node) const {
  std::uint32_t at = innermost[node];
  while (at != kNoNode && all[at].depth > all[loop].depth) {
    at = all[at].parent;
  }
  return at == loop;
}

Loops loops(const Graph& graph, const DominatorTree& tree, const std::vector<Node>& order) {
  Loops result;
  result.innermost.assign(graph.size(), kNoNode);
  std::vector<std::uint32_t> place(graph.size(), 0);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
  }
  std::vector<std::uint32_t> loop_of_header(graph.size(), kNoNode);
  for (const Node node : order) {
    Loop loop{node, kNoNode, 1, {}};
    for (const Node from : graph.predecessors[node]) {
      if (tree.dominates(node, from)) {
        loop.latches.push_back(from);
      } else if (tree.reached(from) && place[from] >= place[node]) {
        result.irreducible = true;
      }
    }
    if (!loop.latches.empty()) {
      loop_of_header[node] = static_cast<std::uint32_t>(result.all.size());
      result.all.push_back(std::move(loop));
    }
  }
  // An outer header comes before an inner one, so the last loop has no loop inside that is not collapsed yet.
  Collapsed collapsed(graph.size());
  std::vector<Node> open;
  for (auto l = static_cast<std::uint32_t>(result.all.size()); l-- > 0;) {
    const Node header = result.all[l].header;
    result.innermost[header] = l;
    open.clear();
    const auto take = [&](Node node) {
      const Node whole = collapsed.find(node);
      if (whole == header) {
        return;
      }
      collapsed.collapse(whole, header);
      if (const std::uint32_t inner = loop_of_header[whole]; inner != kNoNode) {
        result.all[inner].parent = l;
      } else {
        result.innermost[whole] = l;
      }
      open.push_back(whole);
    };
    for (const Node latch : result.all[l].latches) {
      take(latch);
    }
    while (!open.empty()) {
      const Node node = open.back();
      open.pop_back();
      for (const Node from : graph.predecessors[node]) {
        if (tree.reached(from)) {
          take(from);
        }
      }
    }
  }
  for (Loop& loop : result.all) {
    if (loop.parent != kNoNode) {
      loop.depth = result.all[loop.parent].depth + 1;
    }
  }
  return result;
}

}  // namespace rayreplay::spirv
