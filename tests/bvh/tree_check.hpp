// The promises of tree.hpp and builder.hpp, checked slowly and plainly.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bvh/builder.hpp"

namespace rayreplay::test {

inline bool same(const bvh::Tree& a, const bvh::Tree& b) {
  const auto same_node = [](const bvh::TreeNode& x, const bvh::TreeNode& y) {
    return x.first_child == y.first_child && x.child_count == y.child_count;
  };
  const auto same_child = [](const bvh::TreeChild& x, const bvh::TreeChild& y) {
    return x.box == y.box && x.index == y.index && x.count == y.count;
  };
  return std::ranges::equal(a.nodes, b.nodes, same_node) && std::ranges::equal(a.children, b.children, same_child) &&
         a.references == b.references && (a.bounds == b.bounds || a.empty());
}

/// What is wrong with the tree; "" if nothing is. `splits`: references may repeat, and boxes of leaves be smaller than
/// their items'.
inline std::string fault_of(const bvh::Tree& tree, std::span<const bvh::BuildItem> items, bvh::BuildLimits limits,
                            bool splits) {
  std::map<std::uint32_t, bvh::Box> boxes;
  for (const bvh::BuildItem& item : items) {
    if (!item.box.empty()) {
      boxes[item.reference] = item.box;
    }
  }
  if (boxes.empty()) {
    return tree.nodes.empty() && tree.children.empty() && tree.references.empty() ? "" : "a tree over nothing";
  }
  if (tree.nodes.empty()) {
    return "no tree over something";
  }
  std::vector<int> node_seen(tree.nodes.size());
  std::vector<int> child_seen(tree.children.size());
  std::vector<int> reference_seen(tree.references.size());
  std::map<std::uint32_t, bvh::Box> covered;
  std::vector<std::pair<std::uint32_t, bvh::Box>> open{{0, tree.bounds}};
  while (!open.empty()) {
    const auto [index, box] = open.back();
    open.pop_back();
    if (index >= tree.nodes.size() || node_seen[index]++ != 0) {
      return fmt::format("node {} does not exist or is reached twice", index);
    }
    const bvh::TreeNode node = tree.nodes[index];
    if (node.child_count < 1 || node.child_count > limits.branching ||
        (node.child_count == 1 && (index != 0 || !tree.children[node.first_child].is_leaf()))) {
      return fmt::format("node {} has {} children", index, node.child_count);
    }
    bvh::Box all;
    for (std::uint32_t c = 0; c < node.child_count; ++c) {
      const std::size_t row = node.first_child + std::size_t{c};
      if (row >= tree.children.size() || child_seen[row]++ != 0) {
        return fmt::format("child {} does not exist or is reached twice", row);
      }
      const bvh::TreeChild& child = tree.children[row];
      all.extend(child.box);
      if (!child.is_leaf()) {
        open.emplace_back(child.index, child.box);
        continue;
      }
      if (child.count > limits.leaf_size || child.index + std::size_t{child.count} > tree.references.size()) {
        return fmt::format("a leaf of {} references from {}", child.count, child.index);
      }
      bvh::Box leaf;
      for (std::uint32_t r = child.index; r < child.index + child.count; ++r) {
        if (reference_seen[r]++ != 0) {
          return fmt::format("reference {} is in two leaves", r);
        }
        const auto item = boxes.find(tree.references[r]);
        if (item == boxes.end()) {
          return fmt::format("reference {} names nothing that was given", r);
        }
        leaf.extend(item->second);
        covered[tree.references[r]].extend(intersection(child.box, item->second));
      }
      if (splits ? !leaf.contains(child.box) : !(leaf == child.box)) {
        return "a leaf's box is not that of its items";
      }
    }
    if (!(all == box)) {
      return fmt::format("the box of node {} is not that of its children", index);
    }
  }
  const auto once = [](int count) { return count == 1; };
  if (!std::ranges::all_of(node_seen, once) || !std::ranges::all_of(child_seen, once) ||
      !std::ranges::all_of(reference_seen, once)) {
    return "something cannot be reached";
  }
  if (!splits && tree.references.size() != boxes.size()) {
    return fmt::format("{} references to {} items", tree.references.size(), boxes.size());
  }
  for (const auto& [reference, box] : boxes) {
    // The box of all parts: a primitive touches every face of its box.
    if (!(covered[reference] == box)) {
      return fmt::format("item {} is not covered", reference);
    }
  }
  return "";
}

}  // namespace rayreplay::test
