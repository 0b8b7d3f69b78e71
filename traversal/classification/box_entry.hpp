// Entry of a ray into a box, in double precision and rounded outward: separates overlap from enlargement and order.
//
// Contract: `enter` says whether the ray meets the box within [t_min, t_max] and at which distance, allowing for the
// rounding of float hardware: every plane moves outward by `unit` times the sum of the magnitudes in its distance (the
// terms of the origin, the plane, and the effect of an error of the direction, at most at the box's farthest corner);
// t_min and t_max move by `unit` of themselves. A box met in exact arithmetic is thus met here, at no later distance.
// Touching a face, edge or corner is meeting, also for rays parallel to an axis and boxes without extent. `entry` is
// never below the lowered t_min. `met_from_origin` is the same for [0, t_max]: if it holds without `met`, the ray meets
// the box before t_min alone. Empty boxes are not met. Rays must be traversable.
#pragma once

#include "bvh/geometry/box.hpp"
#include "traversal/ray.hpp"

namespace rayreplay::traversal {

/// A ray in world or object space; t is the same in both.
struct SlabRay {
  Vec3d origin;
  Vec3d direction;
  Vec3d origin_terms;     ///< sums of magnitudes that origin was computed from
  Vec3d direction_terms;  ///< the same of direction
  double speed = 0;       ///< length of the direction
};

[[nodiscard]] SlabRay slab_ray(const Ray& ray);
[[nodiscard]] SlabRay slab_ray(const Ray& ray, const Transformd& to_object);

struct SlabEntry {
  bool met = false;
  double entry = 0;
  bool met_from_origin = false;
};

[[nodiscard]] SlabEntry enter(const bvh::Box& box, const SlabRay& ray, double t_min, double t_max, double unit);

}  // namespace rayreplay::traversal
