#include "bvh/leaf_triangles.hpp"

#include <cstddef>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

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
  leaves.vertices.resize(level.references.size() * 9);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, level.references.size(), 4096), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      const auto [index, primitive] = scene.locate(blas, level.references[i]);
      const trace::Geometry& geometry = scene.geometry(blas, index);
      for (std::size_t corner = 0; corner < 3; ++corner) {
        const std::size_t vertex = geometry.indices[std::size_t{primitive} * 3 + corner];
        for (std::size_t axis = 0; axis < 3; ++axis) {
          leaves.vertices[i * 9 + corner * 3 + axis] = geometry.vertices[vertex * 3 + axis];
        }
      }
    }
  });
  return leaves;
}

}  // namespace rayreplay::bvh
