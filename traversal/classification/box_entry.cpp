#include "traversal/classification/box_entry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rayreplay::traversal {
namespace {

double length(const Vec3d& v) {
  return std::sqrt(dot(v, v));
}

}  // namespace

SlabRay slab_ray(const Ray& ray) {
  SlabRay slab;
  slab.origin = Eigen::Map<const Vec3>(ray.origin.data()).cast<double>();
  slab.direction = Eigen::Map<const Vec3>(ray.direction.data()).cast<double>();
  slab.origin_terms = slab.origin.cwiseAbs();
  slab.direction_terms = slab.direction.cwiseAbs();
  slab.speed = length(slab.direction);
  return slab;
}

SlabRay slab_ray(const Ray& ray, const Transformd& to_object) {
  SlabRay slab;
  slab.origin = to_object.col(3);
  slab.origin_terms = slab.origin.cwiseAbs();
  for (unsigned column = 0; column < 3; ++column) {
    const Vec3d o = to_object.col(column) * static_cast<double>(ray.origin[column]);
    const Vec3d d = to_object.col(column) * static_cast<double>(ray.direction[column]);
    slab.origin += o;
    slab.origin_terms += o.cwiseAbs();
    slab.direction += d;
    slab.direction_terms += d.cwiseAbs();
  }
  slab.speed = length(slab.direction);
  return slab;
}

SlabEntry enter(const bvh::Box& box, const SlabRay& ray, double t_min, double t_max, double unit) {
  if (box.empty()) {
    return {};
  }
  const Vec3d low = box.low.cast<double>() - ray.origin;
  const Vec3d high = box.high.cast<double>() - ray.origin;
  const Vec3d farthest = low.cwiseAbs().cwiseMax(high.cwiseAbs());
  const double reach = farthest[0] + farthest[1] + farthest[2];
  double line = -std::numeric_limits<double>::infinity();  // entry of the ray's line into the box
  double far = t_max + std::abs(t_max) * unit;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const double d = ray.direction[axis];
    // Movement of a plane by an error of the direction: proportional to its distance, at most that of the farthest
    // corner.
    const double terms = ray.direction_terms[axis];
    const double at_corner = ray.speed > 0 ? reach * terms / ray.speed : reach;
    const auto pad = [&](double plane, double distance) {
      const double at_plane = d == 0 ? at_corner : std::abs(distance) * (terms / std::abs(d));
      return unit * (ray.origin_terms[axis] + std::abs(plane) + std::min(at_plane, at_corner));
    };
    const double below = low[axis] - pad(static_cast<double>(box.low[axis]), low[axis]);
    const double above = high[axis] + pad(static_cast<double>(box.high[axis]), high[axis]);
    if (d == 0) {
      if (below > 0 || above < 0) {
        return {};
      }
      continue;
    }
    const double a = below / d;
    const double b = above / d;
    line = std::max(line, std::min(a, b));
    far = std::min(far, std::max(a, b));
  }
  const double near = std::max(t_min - std::abs(t_min) * unit, line);
  return {near <= far, near, std::max(0.0, line) <= far};
}

}  // namespace rayreplay::traversal
