#include "capture/spirv/graph.hpp"

#include <algorithm>

namespace rayreplay::spirv {

DepthFirst depth_first(const Graph& graph, Node root) {
  struct Open {
    Node node;
    std::size_t next;  ///< successor to visit
  };
  DepthFirst search;
  search.parent.assign(graph.size(), kNoNode);
  std::vector<bool> seen(graph.size(), false);
  std::vector<Open> open = {{root, 0}};
  seen[root] = true;
  search.preorder.push_back(root);
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next == graph.successors[top.node].size()) {
      search.reverse_postorder.push_back(top.node);
      open.pop_back();
      continue;
    }
    const Node node = top.node;
    const Node to = graph.successors[node][top.next++];
    if (!seen[to]) {
      seen[to] = true;
      search.parent[to] = node;
      search.preorder.push_back(to);
      open.push_back({to, 0});
    }
  }
  std::reverse(search.reverse_postorder.begin(), search.reverse_postorder.end());
  return search;
}

Graph reversed(const Graph& graph) {
  Graph result;
  result.successors = graph.predecessors;
  result.predecessors = graph.successors;
  return result;
}

}  // namespace rayreplay::spirv
