// Layout of WideNode records, for wide-4 and wide-8.
//
// Contract: layout.hpp. Encoding is O(nodes · W), parallel; references keep the tree's order.
#pragma once

#include <limits>
#include <string>

#include "bvh/layouts/placement.hpp"
#include "bvh/layouts/wide.hpp"

namespace rayreplay::bvh {

template <std::size_t W>
class WideLayout final : public Layout {
 public:
  static constexpr std::uint32_t kMaxLeaf = 32;

  [[nodiscard]] LayoutTraits traits() const override {
    return {.width = W,
            .node_bytes = sizeof(WideNode<W>),
            .max_leaf = kMaxLeaf,
            .quantised = false,
            .siblings_together = false};
  }

  [[nodiscard]] Level encode(const Tree& tree, const NodeOrder& order) const override {
    return encode_nodes(tree, order, traits(), "wide-" + std::to_string(W), make_node);
  }

  [[nodiscard]] std::size_t decode(const Level& level, std::uint32_t record,
                                   std::span<ChildView, kMaxWidth> children) const override {
    return decode_slots<W>(wide_node<W>(level, record), children);
  }

 private:
  [[nodiscard]] static WideNode<W> make_node(const Tree& tree, const Placement& placement, std::uint32_t number) {
    constexpr float kFar = std::numeric_limits<float>::infinity();
    WideNode<W> node;
    for (unsigned axis = 0; axis < 3; ++axis) {
      node.low[axis].fill(kFar);
      node.high[axis].fill(-kFar);
    }
    node.index.fill(kUnusedSlot);
    node.count.fill(0);
    const TreeNode& source = tree.nodes[number];
    for (std::size_t slot = 0; slot < source.child_count; ++slot) {
      const TreeChild& child = tree.children[source.first_child + slot];
      for (unsigned axis = 0; axis < 3; ++axis) {
        node.low[axis][slot] = child.box.low[axis];
        node.high[axis][slot] = child.box.high[axis];
      }
      node.index[slot] = child.is_leaf() ? child.index : placement.place[child.index];
      node.count[slot] = child.count;
    }
    return node;
  }
};

}  // namespace rayreplay::bvh
