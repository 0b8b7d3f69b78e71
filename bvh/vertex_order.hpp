// Vertex orders: the sequence of a mesh's vertices in memory (MODELS.md §9).
//
// Contract: `order` returns, for each vertex of a triangle geometry, its place in memory: a bijection on 0 …
// vertices−1. It affects only the addresses that a traversal touches; the geometry is unchanged. Deterministic,
// O(vertices + indices). To add one: a .cpp file in bvh/orders/.
#pragma once

#include <cstdint>
#include <vector>

#include "base/registry.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::bvh {

class VertexOrder {
 public:
  static constexpr const char* kModelKind = "vertex order";
  virtual ~VertexOrder() = default;
  [[nodiscard]] virtual std::vector<std::uint32_t> order(const trace::Geometry& geometry) const = 0;
};

using VertexOrders = Registry<VertexOrder>;

}  // namespace rayreplay::bvh
