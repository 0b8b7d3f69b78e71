#include "bvh/refit.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bvh/geometry/rounding.hpp"

namespace rayreplay::bvh {
namespace {

void enlarge(Box& box, double share) {
  const Vec3d diagonal = extents(box);
  const double push = share * std::sqrt(dot(diagonal, diagonal));
  for (unsigned axis = 0; axis < 3; ++axis) {
    box.low[axis] = round_down(static_cast<double>(box.low[axis]) - push);
    box.high[axis] = round_up(static_cast<double>(box.high[axis]) + push);
  }
}

/// Nodes in an order with parents before their children.
std::vector<std::uint32_t> parents_first(const Tree& tree) {
  std::vector<std::uint32_t> order{0};
  order.reserve(tree.nodes.size());
  for (std::size_t at = 0; at < order.size(); ++at) {
    const TreeNode& node = tree.nodes[order[at]];
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      const TreeChild& child = tree.children[node.first_child + std::size_t{i}];
      if (!child.is_leaf()) {
        order.push_back(child.index);
      }
    }
  }
  return order;
}

}  // namespace

void enlarge_leaves(Tree& tree, double share) {
  if (share == 0 || tree.empty()) {
    return;
  }
  for (TreeChild& child : tree.children) {
    if (child.is_leaf()) {
      enlarge(child.box, share);
    }
  }
  const std::vector<std::uint32_t> order = parents_first(tree);
  std::vector<Box> boxes(tree.nodes.size());
  for (std::size_t at = order.size(); at-- > 0;) {
    const TreeNode& node = tree.nodes[order[at]];
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      TreeChild& child = tree.children[node.first_child + std::size_t{i}];
      if (!child.is_leaf()) {
        child.box = boxes[child.index];
      }
      boxes[order[at]].extend(child.box);
    }
  }
  tree.bounds = boxes[0];
}

}  // namespace rayreplay::bvh
