// Device addresses of the arrays of an encoded scene; bvh.hpp has the order and the sizes.
#pragma once

#include <vector>

#include "bvh/bvh.hpp"

namespace rayreplay::bvh {

[[nodiscard]] MemoryMap map_memory(const PreparedScene& scene, const Level& top, const std::vector<Level>& bottoms,
                                   const VertexOrder& order);

}  // namespace rayreplay::bvh
