// Vec3 arithmetic and 3×4 transforms of the built-in tracer and its scenes.
//
// Contract: plain float operations in the written order (no contraction, no reassociation), so that results are the
// same on every machine. Trigonometry is done in double and rounded to float once, because the last bit of a float
// sine differs between libraries. `normalize` of a zero vector is the zero vector. A Transform is row-major 3×4, object
// to world, as trace::Instance holds it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "capture/reference/scene.hpp"

namespace rayreplay::reference {

[[nodiscard]] constexpr Vec3 operator+(Vec3 a, Vec3 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
[[nodiscard]] constexpr Vec3 operator-(Vec3 a, Vec3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
[[nodiscard]] constexpr Vec3 operator-(Vec3 a) {
  return {-a.x, -a.y, -a.z};
}
[[nodiscard]] constexpr Vec3 operator*(Vec3 a, Vec3 b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z};
}
[[nodiscard]] constexpr Vec3 operator*(Vec3 a, float s) {
  return {a.x * s, a.y * s, a.z * s};
}
[[nodiscard]] constexpr Vec3 operator*(float s, Vec3 a) {
  return a * s;
}
[[nodiscard]] constexpr Vec3 operator/(Vec3 a, float s) {
  return {a.x / s, a.y / s, a.z / s};
}
constexpr Vec3& operator+=(Vec3& a, Vec3 b) {
  return a = a + b;
}
constexpr Vec3& operator*=(Vec3& a, Vec3 b) {
  return a = a * b;
}
constexpr Vec3& operator*=(Vec3& a, float s) {
  return a = a * s;
}

[[nodiscard]] constexpr float dot(Vec3 a, Vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
[[nodiscard]] constexpr Vec3 cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
[[nodiscard]] inline float length(Vec3 a) {
  return std::sqrt(dot(a, a));
}
[[nodiscard]] inline Vec3 normalize(Vec3 a) {
  const float size = length(a);
  return size > 0 ? a / size : Vec3{0, 0, 0};
}
[[nodiscard]] constexpr Vec3 min(Vec3 a, Vec3 b) {
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
}
[[nodiscard]] constexpr Vec3 max(Vec3 a, Vec3 b) {
  return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
}
[[nodiscard]] constexpr Vec3 lerp(Vec3 a, Vec3 b, float t) {
  return a * (1 - t) + b * t;
}
[[nodiscard]] inline bool is_finite(Vec3 a) {
  return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}
[[nodiscard]] constexpr float max_component(Vec3 a) {
  return std::max(a.x, std::max(a.y, a.z));
}

using Transform = std::array<float, 12>;
inline constexpr Transform kIdentity{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

[[nodiscard]] constexpr Vec3 transform_vector(const Transform& m, Vec3 v) {
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[4] * v.x + m[5] * v.y + m[6] * v.z,
          m[8] * v.x + m[9] * v.y + m[10] * v.z};
}
[[nodiscard]] constexpr Vec3 transform_point(const Transform& m, Vec3 p) {
  return transform_vector(m, p) + Vec3{m[3], m[7], m[11]};
}
/// The direction of a surface normal under m: the cofactor matrix, which needs no division (not of unit length).
[[nodiscard]] constexpr Vec3 transform_normal(const Transform& m, Vec3 n) {
  const Vec3 a{m[0], m[1], m[2]};
  const Vec3 b{m[4], m[5], m[6]};
  const Vec3 c{m[8], m[9], m[10]};
  return {dot(cross(b, c), n), dot(cross(c, a), n), dot(cross(a, b), n)};
}
[[nodiscard]] constexpr float determinant(const Transform& m) {
  return dot(Vec3{m[0], m[1], m[2]}, cross(Vec3{m[4], m[5], m[6]}, Vec3{m[8], m[9], m[10]}));
}
/// First b, then a.
[[nodiscard]] constexpr Transform operator*(const Transform& a, const Transform& b) {
  Transform c{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      c[row * 4 + column] = a[row * 4] * b[column] + a[row * 4 + 1] * b[4 + column] + a[row * 4 + 2] * b[8 + column] +
                            (column == 3 ? a[row * 4 + 3] : 0.0F);
    }
  }
  return c;
}
[[nodiscard]] constexpr Transform translation(Vec3 d) {
  return {1, 0, 0, d.x, 0, 1, 0, d.y, 0, 0, 1, d.z};
}
[[nodiscard]] constexpr Transform scaling(Vec3 s) {
  return {s.x, 0, 0, 0, 0, s.y, 0, 0, 0, 0, s.z, 0};
}
[[nodiscard]] inline float sine(double radians) {
  return static_cast<float>(std::sin(radians));
}
[[nodiscard]] inline float cosine(double radians) {
  return static_cast<float>(std::cos(radians));
}
[[nodiscard]] inline Transform rotation_x(double radians) {
  const float s = sine(radians);
  const float c = cosine(radians);
  return {1, 0, 0, 0, 0, c, -s, 0, 0, s, c, 0};
}
[[nodiscard]] inline Transform rotation_y(double radians) {
  const float s = sine(radians);
  const float c = cosine(radians);
  return {c, 0, s, 0, 0, 1, 0, 0, -s, 0, c, 0};
}
[[nodiscard]] inline Transform rotation_z(double radians) {
  const float s = sine(radians);
  const float c = cosine(radians);
  return {c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0};
}

/// Whether m maps space onto a plane, a line or a point, or overflows. The scale of m must not decide, so the
/// determinant is compared with the product of the rows' lengths.
[[nodiscard]] inline bool is_singular(const Transform& m) {
  double volume = 1;
  std::array<std::array<double, 3>, 3> row{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      row[i][j] = static_cast<double>(m[i * 4 + j]);
    }
    const double size = std::hypot(row[i][0], row[i][1], row[i][2]);
    volume *= size;
    for (double& x : row[i]) {
      x /= size;
    }
  }
  const double det = row[0][0] * (row[1][1] * row[2][2] - row[1][2] * row[2][1]) -
                     row[0][1] * (row[1][0] * row[2][2] - row[1][2] * row[2][0]) +
                     row[0][2] * (row[1][0] * row[2][1] - row[1][1] * row[2][0]);
  // The inverse is computed in float by tracers: the volume must be representable there.
  return !(std::fabs(det) > 1e-7) || !(volume > static_cast<double>(std::numeric_limits<float>::min())) ||
         !(volume < static_cast<double>(std::numeric_limits<float>::max()));
}

}  // namespace rayreplay::reference
