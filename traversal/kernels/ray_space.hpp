// A ray in the space of its tests: world space, or the object space of an instance.
//
// Contract: in object space the ray *is* the double result of the instance's inverse transform; all boxes and triangles
// there are tested against it, so that the rounding of the transform opens no gap between them. t is the same in both
// spaces.
#pragma once

#include <cstddef>

#include "bvh/geometry/box_ray.hpp"
#include "traversal/kernels/triangle.hpp"
#include "traversal/ray.hpp"

namespace rayreplay::traversal {

struct RaySpace {
  PreciseRay precise;
  bvh::BoxRay box;
};

[[nodiscard]] inline RaySpace world_space(const Ray& ray) {
  RaySpace space;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    space.precise.origin[axis] = static_cast<double>(ray.origin[axis]);
    space.precise.direction[axis] = static_cast<double>(ray.direction[axis]);
  }
  space.box = bvh::make_box_ray(space.precise.origin, space.precise.direction, ray.t_min);
  return space;
}

[[nodiscard]] inline RaySpace object_space(const RaySpace& world, const Transformd& to_object) {
  RaySpace space;
  const auto& o = world.precise.origin;
  const auto& d = world.precise.direction;
  for (std::size_t row = 0; row < 3; ++row) {
    const double* m = to_object.data() + row * 4;
    space.precise.origin[row] = m[0] * o[0] + m[1] * o[1] + m[2] * o[2] + m[3];
    space.precise.direction[row] = m[0] * d[0] + m[1] * d[1] + m[2] * d[2];
  }
  space.box = bvh::make_box_ray(space.precise.origin, space.precise.direction, world.box.t_min);
  return space;
}

}  // namespace rayreplay::traversal
