// Where a ray enters a box, in double precision and rounded outward: what tells overlap from enlargement and order.
//
// Contract: `enter` says whether the ray meets the box within [t_min, t_max] and where it enters it, allowing for what
// float hardware may have rounded on the way: every plane is moved outward by `unit` times the sum of the magnitudes
// that enter its distance (the terms of the origin, the plane, and what an error of the direction's terms makes of the
// distance, at most at the box's farthest corner), and t_min and t_max by `unit` of themselves. So a box that is met in
// exact arithmetic is met here, at no later a distance; touching a face, an edge or a corner is meeting, also for rays
// parallel to an axis and boxes of no extent. `entry` is never below the lowered t_min. `met_from_origin` says the same
// of [0, t_max]: with it and without `met` the ray meets the box before t_min alone. An empty box is not met. Rays must
// be traversable.
#pragma once

#include <array>

#include "bvh/geometry/box.hpp"
#include "traversal/ray.hpp"

namespace rayreplay::traversal {

/// A ray in some space; t is the same in every space.
struct SlabRay {
  std::array<double, 3> origin{};
  std::array<double, 3> direction{};
  std::array<double, 3> origin_terms{};     ///< sums of magnitudes that origin was computed from
  std::array<double, 3> direction_terms{};  ///< the same of direction
  double speed = 0;                         ///< length of the direction
};

[[nodiscard]] SlabRay slab_ray(const Ray& ray);
/// `to_object`: row-major 3×4, as bvh::SceneInstance.
[[nodiscard]] SlabRay slab_ray(const Ray& ray, const std::array<double, 12>& to_object);

struct SlabEntry {
  bool met = false;
  double entry = 0;
  bool met_from_origin = false;
};

[[nodiscard]] SlabEntry enter(const bvh::Box& box, const SlabRay& ray, double t_min, double t_max, double unit);

}  // namespace rayreplay::traversal
