// The box of one primitive of a traced geometry, and why a primitive is inactive.
//
// Contract: `box_of` gives the tight box of a triangle or the application's box, and `Active`; else an empty box and
// the reason (scene.hpp lists them). O(1).
#pragma once

#include <cmath>
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

[[nodiscard]] inline bool is_finite(const float* values, std::size_t count) {
  bool finite = true;
  for (std::size_t i = 0; i < count; ++i) {
    finite = finite && std::isfinite(values[i]);
  }
  return finite;
}

[[nodiscard]] inline PrimitiveBox box_of(const trace::Geometry& geometry, std::size_t primitive) {
  PrimitiveBox result;
  if (geometry.type == trace::GeometryType::Boxes) {
    const float* row = &geometry.boxes[primitive * 6];
    if (!is_finite(row, 6)) {
      result.state = PrimitiveState::BoxNotFinite;
    } else if (row[0] > row[3] || row[1] > row[4] || row[2] > row[5]) {
      result.state = PrimitiveState::BoxInverted;
    } else {
      result.box.low = {row[0], row[1], row[2]};
      result.box.high = {row[3], row[4], row[5]};
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
    const float* at = &geometry.vertices[std::size_t{corners[corner]} * 3];
    if (!is_finite(at, 3)) {
      result.state = PrimitiveState::TriangleNotFinite;
      return result;
    }
    box.extend({{at[0], at[1], at[2]}, {at[0], at[1], at[2]}});
  }
  result.box = box;
  return result;
}

}  // namespace rayreplay::bvh
