// Node orders: the sequence of a tree's nodes in memory (MODELS.md §9).
//
// Contract: `order` returns a permutation of 0 … nodes−1 that starts with the root. With `siblings_together` the inner
// children of every node are consecutive, in child order. Deterministic, O(nodes · log nodes) or better. To add one: a
// .cpp file in bvh/orders/.
#pragma once

#include <cstdint>
#include <vector>

#include "base/registry.hpp"
#include "bvh/tree.hpp"

namespace rayreplay::bvh {

class NodeOrder {
 public:
  static constexpr const char* kModelKind = "node order";
  virtual ~NodeOrder() = default;
  [[nodiscard]] virtual std::vector<std::uint32_t> order(const Tree& tree, bool siblings_together) const = 0;
};

using NodeOrders = Registry<NodeOrder>;

}  // namespace rayreplay::bvh
