// Node order depth-first: each node, then the subtrees of its children, in child order.
//
// Contract: node_order.hpp; O(nodes). No recursion, because trees may be as deep as they have nodes.
#include <algorithm>

#include "bvh/node_order.hpp"
#include "bvh/orders/units.hpp"

namespace rayreplay::bvh {
namespace {

class DepthFirst final : public NodeOrder {
 public:
  [[nodiscard]] std::vector<std::uint32_t> order(const Tree& tree, bool siblings_together) const override {
    const Units units(tree, siblings_together);
    Sequence sequence(tree, units);
    std::vector<std::uint32_t> stack;
    if (const auto root = units.root()) {
      stack.push_back(*root);
    }
    while (!stack.empty()) {
      const std::uint32_t unit = stack.back();
      stack.pop_back();
      sequence.add(unit);
      const auto first = static_cast<std::ptrdiff_t>(stack.size());
      units.for_each_child(unit, [&](std::uint32_t child) { stack.push_back(child); });
      std::reverse(stack.begin() + first, stack.end());
    }
    return sequence.take();
  }
};

const NodeOrders::Registrar kRegistrar(
    {.kind = {},
     .name = "depth-first",
     .summary = "Each node, then the subtrees of its children one after the other",
     .text = "The order in which recursive builders write nodes. Layouts that need siblings side by side get the inner "
             "children of a node first, then the subtree of each.",
     .source = "rayreplay",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<DepthFirst>(); });

}  // namespace
}  // namespace rayreplay::bvh
