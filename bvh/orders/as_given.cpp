// Vertex order as-given: every vertex keeps its place.
//
// Contract: vertex_order.hpp; O(vertices).
#include <numeric>

#include "bvh/vertex_order.hpp"

namespace rayreplay::bvh {
namespace {

class AsGiven final : public VertexOrder {
 public:
  [[nodiscard]] std::vector<std::uint32_t> order(const trace::Geometry& geometry) const override {
    std::vector<std::uint32_t> place(geometry.vertices.size() / 3);
    std::iota(place.begin(), place.end(), 0U);
    return place;
  }
};

const VertexOrders::Registrar kRegistrar({.kind = {},
                                          .name = "as-given",
                                          .summary = "Vertices lie as the application put them",
                                          .text = "The vertex buffer as it was captured.",
                                          .source = "rayreplay",
                                          .parameters = {}},
                                         [](const Parameters&) { return std::make_unique<AsGiven>(); });

}  // namespace
}  // namespace rayreplay::bvh
