// The box of one primitive of a traced geometry, and why a primitive is inactive.
//
// Contract: `box_of` gives the tight box of a triangle or the application's box, and `Active`; else an empty box and
// the reason (scene.hpp lists them). O(1).
#pragma once

#include <cstddef>
#include <cstdint>

#include "bvh/geometry/box.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::bvh {

enum class PrimitiveState : std::uint8_t { Active, TriangleNotFinite, TriangleBadIndex, BoxNotFinite, BoxInverted };

struct PrimitiveBox {
  Box box;
  PrimitiveState state = PrimitiveState::Active;
};

[[nodiscard]] inline PrimitiveBox box_of(const trace::Geometry& geometry, std::size_t primitive) {
  using Row = Eigen::Map<const Vec3>;
  PrimitiveBox result;
  if (geometry.type == trace::GeometryType::Boxes) {
    const float* row = &geometry.boxes[primitive * 6];
    const Box box{Row(row), Row(row + 3)};
    if (!box.low.allFinite() || !box.high.allFinite()) {
      result.state = PrimitiveState::BoxNotFinite;
    } else if (box.empty()) {
      result.state = PrimitiveState::BoxInverted;
    } else {
      result.box = box;
    }
    return result;
  }
  const std::size_t vertices = geometry.vertices.size() / 3;
  const std::uint32_t* corners = &geometry.indices[primitive * 3];
  if (corners[0] >= vertices || corners[1] >= vertices || corners[2] >= vertices) {
    result.state = PrimitiveState::TriangleBadIndex;
    return result;
  }
  Box box;
  for (std::size_t corner = 0; corner < 3; ++corner) {
    const Row at(&geometry.vertices[std::size_t{corners[corner]} * 3]);
    if (!at.allFinite()) {
      result.state = PrimitiveState::TriangleNotFinite;
      return result;
    }
    box.extend({at, at});
  }
  result.box = box;
  return result;
}

}  // namespace rayreplay::bvh
