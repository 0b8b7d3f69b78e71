#include "bvh/layouts/leaf_blocks.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace rayreplay::bvh {

TreeWithLeafBlocks with_leaf_blocks(const Tree& tree) {
  constexpr std::uint64_t kMax = 0xFFFF'FFFFU;
  const auto leaves = static_cast<std::uint64_t>(std::count_if(tree.children.begin(), tree.children.end(),
                                                               [](const TreeChild& child) { return child.is_leaf(); }));
  if (tree.nodes.size() + leaves >= kMax) {
    throw Error(ErrorKind::Resource,
                {"the acceleration structure has too many nodes and leaves", "",
                 std::to_string(tree.nodes.size() + leaves), "fewer than 4294967295", "use larger leaves"});
  }
  TreeWithLeafBlocks result;
  result.inner_nodes = static_cast<std::uint32_t>(tree.nodes.size());
  result.leaf_row.reserve(leaves);
  Tree& whole = result.tree;
  whole.bounds = tree.bounds;
  whole.nodes.reserve(tree.nodes.size() + leaves);
  whole.nodes = tree.nodes;
  whole.nodes.resize(tree.nodes.size() + leaves);
  whole.children = tree.children;
  std::uint32_t next = result.inner_nodes;
  for (std::size_t row = 0; row < whole.children.size(); ++row) {
    TreeChild& child = whole.children[row];
    if (child.is_leaf()) {
      result.leaf_row.push_back(static_cast<std::uint32_t>(row));
      child.index = next++;
      child.count = 0;
    }
  }
  return result;
}

}  // namespace rayreplay::bvh
