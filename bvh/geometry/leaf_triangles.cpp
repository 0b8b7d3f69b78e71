#include "bvh/geometry/leaf_triangles.hpp"

#include <algorithm>
#include <cstddef>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "bvh/layouts/wide.hpp"

namespace rayreplay::bvh {

LeafTriangles gather_leaf_triangles(const PreparedScene& scene, std::uint32_t blas, const Level& level) {
  LeafTriangles leaves;
  leaves.opaque = true;
  for (std::uint32_t i = 0; i < scene.blases[blas].geometry_count; ++i) {
    const trace::Geometry& geometry = scene.geometry(blas, i);
    leaves.opaque = leaves.opaque && geometry.opaque;
    if (geometry.type != trace::GeometryType::Triangles) {
      return {};
    }
  }
  if (level.empty()) {
    return leaves;
  }
  leaves.vertices.resize(level.references.size() * 9 + LeafTriangles::kPiece);
  std::fill_n(leaves.vertices.end() - LeafTriangles::kPiece, LeafTriangles::kPiece, 0.0F);
  const auto gather = [&](std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto [index, primitive] = scene.locate(blas, level.references[first + i]);
      const trace::Geometry& geometry = scene.geometry(blas, index);
      for (std::size_t corner = 0; corner < 3; ++corner) {
        const std::size_t vertex = geometry.indices[std::size_t{primitive} * 3 + corner];
        for (std::size_t axis = 0; axis < 3; ++axis) {
          leaves.vertices[first * 9 + (corner * 3 + axis) * count + i] = geometry.vertices[vertex * 3 + axis];
        }
      }
    }
  };
  tbb::parallel_for(tbb::blocked_range<std::uint32_t>(0, level.node_count, 1024), [&](const auto& range) {
    for (std::uint32_t record = range.begin(); record < range.end(); ++record) {
      const Wide8Node& node = wide_node<8>(level, record);
      for (std::size_t slot = 0; slot < 8; ++slot) {
        for (std::uint32_t done = 0; done < node.count[slot]; done += LeafTriangles::kPiece) {
          gather(node.index[slot] + std::size_t{done},
                 std::min<std::size_t>(LeafTriangles::kPiece, node.count[slot] - done));
        }
      }
    }
  });
  return leaves;
}

}  // namespace rayreplay::bvh
