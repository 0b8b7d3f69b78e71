// Ray against box, sphere and triangle in double precision.
//
// Contract: Embree only finds the primitives near a ray; recorded values are computed here with IEEE operations alone.
// Embree's distances use the processor's approximate reciprocal and differ between vendors in the last bit. Scene
// coordinates are floats: their differences are exact to 2^-53 here, and a sphere of radius 1000 shows no cancellation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "capture/reference/vec.hpp"

namespace rayreplay::reference {

/// A ray in the space of its primitive; t is the same in every space.
struct PreciseRay {
  Vec3d origin;
  Vec3d direction;
  Vec3d inverse;      ///< 1 / direction
  double margin = 0;  ///< bound on the error of origin
};

[[nodiscard]] inline PreciseRay precise_ray(const Vec3& origin, const Vec3& direction) {
  PreciseRay ray;
  ray.origin = origin.cast<double>();
  ray.direction = direction.cast<double>();
  ray.inverse = ray.direction.cwiseInverse();
  return ray;
}

[[nodiscard]] inline PreciseRay transform_ray(const PreciseRay& world, const Transformd& to_object) {
  PreciseRay ray;
  for (Eigen::Index row = 0; row < 3; ++row) {
    const double a = to_object(row, 0) * world.origin[0];
    const double b = to_object(row, 1) * world.origin[1];
    const double c = to_object(row, 2) * world.origin[2];
    const double d = to_object(row, 3);
    ray.origin[row] = a + b + c + d;
    ray.direction[row] = dot(to_object.row(row), world.direction);
    ray.margin = std::max(ray.margin, 0x1p-50 * (std::abs(a) + std::abs(b) + std::abs(c) + std::abs(d)));
  }
  ray.inverse = ray.direction.cwiseInverse();
  return ray;
}

/// Slab test rounded outward: never false for a ray that meets the box (min x y z, max x y z) within [t_min, t_max].
/// Touching a face, an edge or a corner counts as meeting.
[[nodiscard]] inline bool meets_box(const PreciseRay& ray, const float* box, float t_min, float t_max) {
  constexpr double kSlack = 0x1p-50;
  auto near = static_cast<double>(t_min);
  auto far = static_cast<double>(t_max);
  for (Eigen::Index axis = 0; axis < 3; ++axis) {
    const double low = static_cast<double>(box[axis]) - ray.margin - ray.origin[axis];
    const double high = static_cast<double>(box[axis + 3]) + ray.margin - ray.origin[axis];
    if (ray.direction[axis] == 0) {
      if (low > 0 || high < 0) {
        return false;
      }
      continue;
    }
    const double a = low * ray.inverse[axis];
    const double b = high * ray.inverse[axis];
    const double enter = std::min(a, b);
    const double leave = std::max(a, b);
    near = std::max(near, enter - std::abs(enter) * kSlack);
    far = std::min(far, leave + std::abs(leave) * kSlack);
  }
  return near <= far;
}

/// The report of the sphere's intersection shader.
struct SphereRoot {
  bool found = false;
  float t = 0;
  std::uint8_t hit_kind = 0;  ///< 0: the ray enters the sphere, 1: it leaves it
};

/// The nearer root if it lies in [t_min, t_max], else the farther one if that does. `sphere`: centre x y z, radius.
[[nodiscard]] inline SphereRoot intersect_sphere(const PreciseRay& ray, const float* sphere, float t_min, float t_max) {
  const Vec3d from_center = ray.origin - Vec3(sphere).cast<double>();
  const auto radius = static_cast<double>(sphere[3]);
  const double a = dot(ray.direction, ray.direction);
  const double half_b = dot(from_center, ray.direction);
  const double c = dot(from_center, from_center) - radius * radius;
  const double discriminant = half_b * half_b - a * c;
  if (!(discriminant >= 0) || a == 0) {
    return {};
  }
  const double root = std::sqrt(discriminant);
  const auto enter = static_cast<float>((-half_b - root) / a);
  if (enter >= t_min && enter <= t_max) {
    return {true, enter, 0};
  }
  const auto leave = static_cast<float>((-half_b + root) / a);
  if (leave >= t_min && leave <= t_max) {
    return {true, leave, 1};
  }
  return {};
}

/// From the sphere's centre to the ray at t, in radii: the outward normal there, but for rounding.
[[nodiscard]] inline Vec3 sphere_normal(const PreciseRay& ray, float t, const float* sphere) {
  const Vec3d point = ray.origin + static_cast<double>(t) * ray.direction;
  return ((point - Vec3(sphere).cast<double>()) / static_cast<double>(sphere[3])).cast<float>();
}

/// Where the ray pierces the triangle's plane: distance, barycentric weights of the second and third vertex, and
/// whether it sees the front (vertices counterclockwise in right-handed coordinates; Vulkan says: clockwise in
/// left-handed ones). `valid` is false for a degenerate triangle or a ray in its plane.
struct TriangleHit {
  bool valid = false;
  bool front = false;
  double t = 0;
  double u = 0;
  double v = 0;
};

/// Möller and Trumbore 1997, without any epsilon.
[[nodiscard]] inline TriangleHit intersect_triangle(const PreciseRay& ray, const float* a, const float* b,
                                                    const float* c) {
  const Vec3d corner = Vec3(a).cast<double>();
  const Vec3d edge1 = Vec3(b).cast<double>() - corner;
  const Vec3d edge2 = Vec3(c).cast<double>() - corner;
  const Vec3d p = ray.direction.cross(edge2);
  const double determinant = dot(edge1, p);
  if (determinant == 0) {
    return {};
  }
  const Vec3d s = ray.origin - corner;
  const Vec3d q = s.cross(edge1);
  return {true, determinant > 0, dot(edge2, q) / determinant, dot(s, p) / determinant,
          dot(ray.direction, q) / determinant};
}

}  // namespace rayreplay::reference
