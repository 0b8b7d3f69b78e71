// Node order breadth-first: level by level.
//
// Contract: node_order.hpp; O(nodes). Siblings are always consecutive.
#include "bvh/node_order.hpp"
#include "bvh/orders/units.hpp"

namespace rayreplay::bvh {
namespace {

class BreadthFirst final : public NodeOrder {
 public:
  [[nodiscard]] std::vector<std::uint32_t> order(const Tree& tree, bool /*siblings_together*/) const override {
    const Units units(tree, false);
    std::vector<std::uint32_t> nodes;
    nodes.reserve(tree.nodes.size());
    if (const auto root = units.root()) {
      nodes.push_back(*root);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      units.for_each_child(nodes[i], [&](std::uint32_t child) { nodes.push_back(child); });
    }
    return nodes;
  }
};

const NodeOrders::Registrar kRegistrar(
    {.kind = {},
     .name = "breadth-first",
     .summary = "Level by level",
     .text = "The upper levels, which every ray visits, lie at the front; a path downward touches a new place at every "
             "level.",
     .source = "rayreplay",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<BreadthFirst>(); });

}  // namespace
}  // namespace rayreplay::bvh
