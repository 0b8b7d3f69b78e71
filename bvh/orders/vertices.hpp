// The number of vertices of a geometry, for vertex orders.
//
// Contract: Resource if 32-bit indices cannot name them all. O(1).
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::bvh {

[[nodiscard]] inline std::uint32_t vertex_count(const trace::Geometry& geometry) {
  constexpr std::size_t kMax = 0xFFFF'FFFFU;
  const std::size_t vertices = geometry.vertices.size() / 3;
  if (vertices > kMax) {
    throw Error(ErrorKind::Resource, {"a geometry has too many vertices to be put in order", geometry.name,
                                      std::to_string(vertices), "at most 4294967295", "use vertex order as-given"});
  }
  return static_cast<std::uint32_t>(vertices);
}

}  // namespace rayreplay::bvh
