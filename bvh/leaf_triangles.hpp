// The triangles of a bottom-level structure in the order of its leaves, for kernels that test several at once.
//
// Contract: where all geometries of a structure are triangles, `vertices` holds nine floats for each reference of its
// level, in the order of the references; elsewhere nothing. A copy of what the scene has: 36 bytes a reference. `opaque`
// says that every geometry is. O(references), parallel.
#pragma once

#include <cstdint>
#include <vector>

#include "bvh/layout.hpp"
#include "bvh/scene.hpp"

namespace rayreplay::bvh {

struct LeafTriangles {
  std::vector<float, AlignedAllocator<float>> vertices;
  bool opaque = false;
};

[[nodiscard]] LeafTriangles gather_leaf_triangles(const PreparedScene& scene, std::uint32_t blas, const Level& level);

}  // namespace rayreplay::bvh
