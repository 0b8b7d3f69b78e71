#include "bvh/builders/build_record.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "base/error.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::uint32_t kParallelNodes = 4096;
constexpr std::size_t kMaxChildren = 16;

/// First rows of a subtree.
struct Place {
  std::uint32_t node = 0;
  std::uint32_t child = 0;
  std::uint32_t reference = 0;
};

class Flattening {
 public:
  explicit Flattening(Tree& tree) : tree_(tree) {}

  void node(const NodeRecord& record, Place place) {
    tree_.nodes[place.node] = {place.child, record.count};
    // The node's own rows, then those of its subtrees.
    Place next{place.node + 1, place.child + record.count, place.reference};
    std::array<Place, kMaxChildren> places;
    for (std::size_t i = 0; i < record.count; ++i) {
      const BuildRecord& child = *record.children()[i];
      places[i] = next;
      TreeChild& row = tree_.children[place.child + i];
      row.box = child.box;
      if (child.leaf != 0) {
        row.index = next.reference;
        row.count = child.count;
        std::copy_n(as_leaf(child).references(), child.count, tree_.references.data() + next.reference);
        next.reference += child.count;
      } else {
        const NodeRecord& below = as_node(child);
        row.index = next.node;
        next.node += below.nodes;
        next.child += below.nodes - 1 + below.leaves;
        next.reference += below.references;
      }
    }
    const auto descend = [&](std::size_t i) {
      if (record.children()[i]->leaf == 0) {
        node(as_node(*record.children()[i]), places[i]);
      }
    };
    if (record.nodes > kParallelNodes) {
      tbb::parallel_for(std::size_t{0}, std::size_t{record.count}, descend);
    } else {
      for (std::size_t i = 0; i < record.count; ++i) {
        descend(i);
      }
    }
  }

 private:
  Tree& tree_;
};

}  // namespace

void NodeRecord::complete() {
  for (std::size_t i = 0; i < count; ++i) {
    const BuildRecord& child = *children()[i];
    box.extend(child.box);
    if (child.leaf != 0) {
      leaves += 1;
      references += child.count;
    } else {
      nodes += as_node(child).nodes;
      leaves += as_node(child).leaves;
      references += as_node(child).references;
    }
  }
}

Tree flatten(const BuildRecord& root) {
  Tree tree;
  tree.bounds = root.box;
  if (root.leaf != 0) {
    tree.nodes = {{0, 1}};
    tree.children = {{root.box, 0, root.count}};
    tree.references.assign(as_leaf(root).references(), as_leaf(root).references() + root.count);
    return tree;
  }
  // There are at most as many leaves as references, which builders keep below 2^32, and fewer nodes than leaves.
  const NodeRecord& node = as_node(root);
  const std::uint64_t children = std::uint64_t{node.nodes} - 1 + node.leaves;
  if (children > 0xFFFF'FFFFU) {
    throw Error(ErrorKind::Resource, {"the tree has too many nodes and leaves", "", fmt::format("{}", children),
                                      "less than 2^32", "choose larger leaves, or fewer extra references"});
  }
  tree.nodes.resize(node.nodes);
  tree.children.resize(children);
  tree.references.resize(node.references);
  Flattening(tree).node(node, {});
  return tree;
}

}  // namespace rayreplay::bvh
