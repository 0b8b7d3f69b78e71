// Vertex order breadth-first: over the edges of the mesh.
//
// Contract: vertex_order.hpp. The search starts at vertex 0 and continues at the lowest unreached vertex. A vertex's
// neighbours are the corners of its triangles, triangle by triangle and corner by corner as in the index buffer.
// Vertices without a triangle come last, in their order; triangles with an index out of range are ignored. O(vertices +
// indices).
#include <array>
#include <span>

#include "bvh/orders/vertices.hpp"
#include "bvh/vertex_order.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::uint32_t kNowhere = 0xFFFF'FFFFU;

/// The triangles of each vertex: rows [first[v], first[v + 1]) of `triangle`.
struct Incidence {
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> triangle;
};

bool in_range(std::span<const std::uint32_t, 3> corners, std::uint32_t vertices) {
  return corners[0] < vertices && corners[1] < vertices && corners[2] < vertices;
}

std::span<const std::uint32_t, 3> corners_of(const trace::Geometry& geometry, std::uint64_t triangle) {
  return std::span<const std::uint32_t, 3>(geometry.indices.data() + 3 * triangle, 3);
}

Incidence incidence(const trace::Geometry& geometry, std::uint32_t vertices) {
  const std::uint64_t triangles = geometry.indices.size() / 3;
  Incidence result;
  result.first.assign(std::size_t{vertices} + 1, 0);
  const auto for_each_corner = [&](const auto& use) {
    for (std::uint64_t triangle = 0; triangle < triangles; ++triangle) {
      const auto corners = corners_of(geometry, triangle);
      if (in_range(corners, vertices)) {
        for (const std::uint32_t vertex : corners) {
          use(triangle, vertex);
        }
      }
    }
  };
  for_each_corner([&](std::uint64_t /*triangle*/, std::uint32_t vertex) { ++result.first[vertex + std::size_t{1}]; });
  for (std::size_t vertex = 0; vertex < vertices; ++vertex) {
    result.first[vertex + 1] += result.first[vertex];
  }
  result.triangle.resize(result.first.back());
  std::vector<std::uint64_t> next(result.first.begin(), result.first.end() - 1);
  for_each_corner([&](std::uint64_t triangle, std::uint32_t vertex) { result.triangle[next[vertex]++] = triangle; });
  return result;
}

class MeshBreadthFirst final : public VertexOrder {
 public:
  [[nodiscard]] std::vector<std::uint32_t> order(const trace::Geometry& geometry) const override {
    const std::uint32_t vertices = vertex_count(geometry);
    const Incidence around = incidence(geometry, vertices);
    std::vector<std::uint32_t> place(vertices, kNowhere);
    std::vector<std::uint32_t> reached;
    reached.reserve(vertices);
    const auto reach = [&](std::uint32_t vertex) {
      if (place[vertex] == kNowhere) {
        place[vertex] = static_cast<std::uint32_t>(reached.size());
        reached.push_back(vertex);
      }
    };
    std::size_t done = 0;
    for (std::uint32_t start = 0; start < vertices; ++start) {
      if (around.first[start] == around.first[start + std::size_t{1}]) {
        continue;
      }
      for (reach(start); done < reached.size(); ++done) {
        const std::size_t vertex = reached[done];
        for (std::uint64_t row = around.first[vertex]; row < around.first[vertex + 1]; ++row) {
          for (const std::uint32_t neighbour : corners_of(geometry, around.triangle[row])) {
            reach(neighbour);
          }
        }
      }
    }
    for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
      reach(vertex);
    }
    return place;
  }
};

const VertexOrders::Registrar kRegistrar(
    {.kind = {},
     .name = "breadth-first",
     .summary = "Breadth-first over the edges of the mesh",
     .text =
         "Starts at vertex 0 and goes on at the lowest vertex not yet reached; neighbours follow in the order of the "
         "index buffer. Vertices of no triangle come last. Vertices that are near on the mesh lie near in memory.",
     .source = "Cuthill and McKee 1969, without sorting by degree",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<MeshBreadthFirst>(); });

}  // namespace
}  // namespace rayreplay::bvh
