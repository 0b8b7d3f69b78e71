// Ray against box, sphere and triangle in double precision.
//
// Contract: Embree only finds the primitives near a ray; recorded values are computed here with IEEE operations alone.
// Embree's distances use the processor's approximate reciprocal and differ between vendors in the last bit. Scene
// coordinates are floats: their differences are exact to 2^-53 here, and a sphere of radius 1000 shows no cancellation.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "capture/reference/vec.hpp"

namespace rayreplay::reference {

/// A ray in the space of its primitive; t is the same in every space.
struct PreciseRay {
  std::array<double, 3> origin{};
  std::array<double, 3> direction{};
  std::array<double, 3> inverse{};  ///< 1 / direction
  double margin = 0;                ///< bound on the error of origin
};

[[nodiscard]] inline PreciseRay precise_ray(Vec3 origin, Vec3 direction) {
  PreciseRay ray;
  ray.origin = {static_cast<double>(origin.x), static_cast<double>(origin.y), static_cast<double>(origin.z)};
  ray.direction = {static_cast<double>(direction.x), static_cast<double>(direction.y),
                   static_cast<double>(direction.z)};
  ray.inverse = {1 / ray.direction[0], 1 / ray.direction[1], 1 / ray.direction[2]};
  return ray;
}

/// `to_object` is row-major 3×4.
[[nodiscard]] inline PreciseRay transform_ray(const PreciseRay& world, const std::array<double, 12>& to_object) {
  PreciseRay ray;
  for (std::size_t row = 0; row < 3; ++row) {
    const double* m = &to_object[row * 4];
    const double a = m[0] * world.origin[0];
    const double b = m[1] * world.origin[1];
    const double c = m[2] * world.origin[2];
    ray.origin[row] = a + b + c + m[3];
    ray.direction[row] = m[0] * world.direction[0] + m[1] * world.direction[1] + m[2] * world.direction[2];
    ray.inverse[row] = 1 / ray.direction[row];
    ray.margin = std::max(ray.margin, 0x1p-50 * (std::abs(a) + std::abs(b) + std::abs(c) + std::abs(m[3])));
  }
  return ray;
}

/// Slab test rounded outward: never false for a ray that meets the box (min x y z, max x y z) within [t_min, t_max].
/// Touching a face, an edge or a corner counts as meeting.
[[nodiscard]] inline bool meets_box(const PreciseRay& ray, const float* box, float t_min, float t_max) {
  constexpr double kSlack = 0x1p-50;
  auto near = static_cast<double>(t_min);
  auto far = static_cast<double>(t_max);
  for (std::size_t axis = 0; axis < 3; ++axis) {
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
  const double x = ray.origin[0] - static_cast<double>(sphere[0]);
  const double y = ray.origin[1] - static_cast<double>(sphere[1]);
  const double z = ray.origin[2] - static_cast<double>(sphere[2]);
  const auto radius = static_cast<double>(sphere[3]);
  const auto& d = ray.direction;
  const double a = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  const double half_b = x * d[0] + y * d[1] + z * d[2];
  const double c = x * x + y * y + z * z - radius * radius;
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
  using Triple = std::array<double, 3>;
  const auto minus = [](const float* p, const float* q) {
    return Triple{static_cast<double>(p[0]) - static_cast<double>(q[0]),
                  static_cast<double>(p[1]) - static_cast<double>(q[1]),
                  static_cast<double>(p[2]) - static_cast<double>(q[2])};
  };
  const auto product = [](const Triple& p, const Triple& q) {
    return Triple{p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]};
  };
  const auto scalar = [](const Triple& p, const Triple& q) { return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]; };
  const Triple edge1 = minus(b, a);
  const Triple edge2 = minus(c, a);
  const Triple p = product(ray.direction, edge2);
  const double determinant = scalar(edge1, p);
  if (determinant == 0) {
    return {};
  }
  const Triple s{ray.origin[0] - static_cast<double>(a[0]), ray.origin[1] - static_cast<double>(a[1]),
                 ray.origin[2] - static_cast<double>(a[2])};
  const Triple q = product(s, edge1);
  return {true, determinant > 0, scalar(edge2, q) / determinant, scalar(s, p) / determinant,
          scalar(ray.direction, q) / determinant};
}

}  // namespace rayreplay::reference
