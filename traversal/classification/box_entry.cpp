#include "traversal/classification/box_entry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rayreplay::traversal {
namespace {

double length(const std::array<double, 3>& v) {
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

}  // namespace

SlabRay slab_ray(const Ray& ray) {
  SlabRay slab;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    slab.origin[axis] = static_cast<double>(ray.origin[axis]);
    slab.direction[axis] = static_cast<double>(ray.direction[axis]);
    slab.origin_terms[axis] = std::abs(slab.origin[axis]);
    slab.direction_terms[axis] = std::abs(slab.direction[axis]);
  }
  slab.speed = length(slab.direction);
  return slab;
}

SlabRay slab_ray(const Ray& ray, const std::array<double, 12>& to_object) {
  SlabRay slab;
  for (std::size_t row = 0; row < 3; ++row) {
    slab.origin[row] = to_object[row * 4 + 3];
    slab.origin_terms[row] = std::abs(to_object[row * 4 + 3]);
    for (std::size_t column = 0; column < 3; ++column) {
      const double m = to_object[row * 4 + column];
      const double o = m * static_cast<double>(ray.origin[column]);
      const double d = m * static_cast<double>(ray.direction[column]);
      slab.origin[row] += o;
      slab.origin_terms[row] += std::abs(o);
      slab.direction[row] += d;
      slab.direction_terms[row] += std::abs(d);
    }
  }
  slab.speed = length(slab.direction);
  return slab;
}

SlabEntry enter(const bvh::Box& box, const SlabRay& ray, double t_min, double t_max, double unit) {
  if (box.empty()) {
    return {};
  }
  std::array<double, 3> low{};
  std::array<double, 3> high{};
  double reach = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    low[axis] = static_cast<double>(box.low[axis]) - ray.origin[axis];
    high[axis] = static_cast<double>(box.high[axis]) - ray.origin[axis];
    reach += std::max(std::abs(low[axis]), std::abs(high[axis]));
  }
  double line = -std::numeric_limits<double>::infinity();  // entry of the ray's line into the box
  double far = t_max + std::abs(t_max) * unit;
  for (std::size_t axis = 0; axis < 3; ++axis) {
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
