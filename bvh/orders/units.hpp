// Units of node orders: single nodes, or groups of siblings.
//
// Contract: without `siblings_together` a unit is a node. With it, a unit is the inner children of one node,
// consecutive in child order; the root, which has no siblings, comes before all units. A unit is named by a node:
// itself, or the siblings' parent. Units form a tree. Complexity: O(children of the unit's nodes) a call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bvh/tree.hpp"

namespace rayreplay::bvh {

class Units {
 public:
  Units(const Tree& tree, bool siblings_together) : tree_(tree), groups_(siblings_together) {}

  /// None: no units (an empty tree, or with groups a tree of the root alone).
  [[nodiscard]] std::optional<std::uint32_t> root() const {
    return tree_.empty() || (groups_ && !has_inner(0)) ? std::nullopt : std::optional<std::uint32_t>(0);
  }

  /// Calls use(unit) in child order.
  template <class Use>
  void for_each_child(std::uint32_t unit, const Use& use) const {
    for_each_inner(unit, [&](const TreeChild& child) {
      if (!groups_ || has_inner(child.index)) {
        use(child.index);
      }
    });
  }

  /// Calls use(node) for the nodes of a unit, in order.
  template <class Use>
  void for_each_node(std::uint32_t unit, const Use& use) const {
    if (!groups_) {
      use(unit);
      return;
    }
    for_each_inner(unit, [&](const TreeChild& child) { use(child.index); });
  }

  /// True if the root comes before the first unit.
  [[nodiscard]] bool root_apart() const {
    return groups_ && !tree_.empty();
  }

 private:
  template <class Use>
  void for_each_inner(std::uint32_t node, const Use& use) const {
    const TreeNode& source = tree_.nodes[node];
    for (const TreeChild& child : std::span(tree_.children).subspan(source.first_child, source.child_count)) {
      if (!child.is_leaf()) {
        use(child);
      }
    }
  }
  [[nodiscard]] bool has_inner(std::uint32_t node) const {
    bool found = false;
    for_each_inner(node, [&](const TreeChild&) { found = true; });
    return found;
  }

  const Tree& tree_;
  bool groups_;
};

/// Collects the sequence of nodes, the root first.
class Sequence {
 public:
  Sequence(const Tree& tree, const Units& units) : units_(units) {
    nodes_.reserve(tree.nodes.size());
    if (units.root_apart()) {
      nodes_.push_back(0);
    }
  }
  void add(std::uint32_t unit) {
    units_.for_each_node(unit, [this](std::uint32_t node) { nodes_.push_back(node); });
  }
  [[nodiscard]] std::vector<std::uint32_t> take() {
    return std::move(nodes_);
  }

 private:
  const Units& units_;
  std::vector<std::uint32_t> nodes_;
};

}  // namespace rayreplay::bvh
