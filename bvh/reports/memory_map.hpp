// Device addresses of the arrays of an encoded scene.
//
// Contract: the order, sizes and alignment of bvh.hpp (*Addresses*); a geometry that several structures share is placed
// once. `holds_primitives`: of the layout. O(geometries + structures).
#pragma once

#include <vector>

#include "bvh/bvh.hpp"

namespace rayreplay::bvh {

[[nodiscard]] MemoryMap map_memory(const PreparedScene& scene, const Level& top, const std::vector<Level>& bottoms,
                                   const VertexOrder& order, bool holds_primitives);

}  // namespace rayreplay::bvh
