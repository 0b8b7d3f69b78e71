#include "capture/spirv/dominators.hpp"

#include <utility>

namespace rayreplay::spirv {
namespace {

/// The forest of Lengauer and Tarjan, on numbers of the depth-first search.
class Forest {
 public:
  explicit Forest(std::size_t nodes) : semi_(nodes), ancestor_(nodes, kNoNode), label_(nodes) {
    for (Node v = 0; v < nodes; ++v) {
      semi_[v] = label_[v] = v;
    }
  }
  [[nodiscard]] Node semi(Node v) const {
    return semi_[v];
  }
  void set_semi(Node v, Node semi) {
    semi_[v] = semi;
  }
  void link(Node parent, Node v) {
    ancestor_[v] = parent;
  }
  /// The node of least semidominator on the path from v to below its tree's root; v itself for a root.
  Node lowest(Node v) {
    if (ancestor_[v] == kNoNode) {
      return v;
    }
    path_.clear();
    for (Node at = v; ancestor_[ancestor_[at]] != kNoNode; at = ancestor_[at]) {
      path_.push_back(at);
    }
    for (std::size_t i = path_.size(); i-- > 0;) {
      const Node at = path_[i];
      const Node above = ancestor_[at];
      if (semi_[label_[above]] < semi_[label_[at]]) {
        label_[at] = label_[above];
      }
      ancestor_[at] = ancestor_[above];
    }
    return label_[v];
  }

 private:
  std::vector<Node> semi_, ancestor_, label_, path_;
};

/// Preorder numbers of the tree.
void number_tree(DominatorTree& tree, Node root) {
  Graph children(tree.parent.size());
  for (Node v = 0; v < tree.parent.size(); ++v) {
    if (tree.parent[v] != kNoNode) {
      children.connect(tree.parent[v], v);
    }
  }
  const DepthFirst search = depth_first(children, root);
  for (std::uint32_t i = 0; i < search.preorder.size(); ++i) {
    tree.enter[search.preorder[i]] = i;
    tree.beyond[search.preorder[i]] = i + 1;
  }
  for (std::size_t i = search.preorder.size(); i-- > 1;) {
    const Node v = search.preorder[i];
    std::uint32_t& above = tree.beyond[tree.parent[v]];
    above = std::max(above, tree.beyond[v]);
  }
}

}  // namespace

DominatorTree dominators(const Graph& graph, Node root) {
  DominatorTree tree;
  tree.parent.assign(graph.size(), kNoNode);
  tree.enter.assign(graph.size(), 0);
  tree.beyond.assign(graph.size(), 0);
  const DepthFirst search = depth_first(graph, root);
  const std::vector<Node>& vertex = search.preorder;  // number -> node
  std::vector<Node> number(graph.size(), kNoNode);
  for (Node i = 0; i < vertex.size(); ++i) {
    number[vertex[i]] = i;
  }
  Forest forest(vertex.size());
  std::vector<Node> dominator(vertex.size(), 0);
  std::vector<std::vector<Node>> bucket(vertex.size());  // by semidominator
  for (Node w = static_cast<Node>(vertex.size()); w-- > 1;) {
    for (const Node predecessor : graph.predecessors[vertex[w]]) {
      if (number[predecessor] != kNoNode) {
        const Node u = forest.lowest(number[predecessor]);
        forest.set_semi(w, std::min(forest.semi(w), forest.semi(u)));
      }
    }
    bucket[forest.semi(w)].push_back(w);
    const Node parent = number[search.parent[vertex[w]]];
    forest.link(parent, w);
    for (const Node v : std::exchange(bucket[parent], {})) {
      const Node u = forest.lowest(v);
      dominator[v] = forest.semi(u) < forest.semi(v) ? u : parent;
    }
  }
  for (Node w = 1; w < vertex.size(); ++w) {
    if (dominator[w] != forest.semi(w)) {
      dominator[w] = dominator[dominator[w]];
    }
    tree.parent[vertex[w]] = vertex[dominator[w]];
  }
  number_tree(tree, root);
  return tree;
}

}  // namespace rayreplay::spirv
