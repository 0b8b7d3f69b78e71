#include "bvh/layouts/leaf_blocks.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace rayreplay::bvh {

TreeWithLeafBlocks with_leaf_blocks(const Tree& tree) {
  constexpr std::uint64_t kMost = 0xFFFF'FFFFU;
  const auto leaves = static_cast<std::uint64_t>(std::count_if(tree.children.begin(), tree.children.end(),
                                                               [](const TreeChild& child) { return child.is_leaf(); }));
  if (tree.nodes.size() + leaves >= kMost || tree.children.size() + leaves >= kMost) {
    throw Error(ErrorKind::Resource,
                {"the acceleration structure has too many nodes and leaves", "",
                 std::to_string(tree.nodes.size() + leaves), "fewer than 4294967295", "use larger leaves"});
  }
  TreeWithLeafBlocks result;
  result.inner_nodes = static_cast<std::uint32_t>(tree.nodes.size());
  Tree& whole = result.tree;
  whole.bounds = tree.bounds;
  whole.references = tree.references;
  whole.nodes.reserve(tree.nodes.size() + leaves);
  whole.nodes = tree.nodes;
  whole.children.reserve(tree.children.size() + leaves);
  whole.children = tree.children;
  for (std::size_t row = 0; row < tree.children.size(); ++row) {
    const TreeChild leaf = whole.children[row];
    if (leaf.is_leaf()) {
      whole.children[row].index = static_cast<std::uint32_t>(whole.nodes.size());
      whole.children[row].count = 0;
      whole.nodes.push_back({static_cast<std::uint32_t>(whole.children.size()), 1});
      whole.children.push_back(leaf);
    }
  }
  return result;
}

}  // namespace rayreplay::bvh
