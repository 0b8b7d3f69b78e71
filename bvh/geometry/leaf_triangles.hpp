// The triangles of a bottom-level structure in the order of its leaves, for kernels that test several at once.
//
// Contract: if all geometries of a structure are triangles, `vertices` has nine floats for each reference of a level of
// layout wide-8, else nothing. A leaf of the references [first, first + count) is divided into pieces of up to kPiece.
// The piece of n triangles from reference p has the 9·n floats from 9·p on, coordinate by coordinate: the x of all
// first vertices, then y, z, then the second and third vertices'. Kernels may read kPiece floats past the end. A copy
// of scene data: 36 bytes a reference. `opaque`: every geometry is opaque. O(references), parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bvh/layout.hpp"
#include "bvh/scene.hpp"

namespace rayreplay::bvh {

struct LeafTriangles {
  static constexpr std::size_t kPiece = 8;

  std::vector<float, AlignedAllocator<float>> vertices;
  bool opaque = false;
};

[[nodiscard]] LeafTriangles gather_leaf_triangles(const PreparedScene& scene, std::uint32_t blas, const Level& level);

}  // namespace rayreplay::bvh
