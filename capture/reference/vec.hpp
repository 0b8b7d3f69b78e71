// Operations on vectors and transforms that the built-in tracer and its scenes use and Eigen does not have.
//
// Contract: plain float operations in the written order (no contraction, no reassociation), so that results are the
// same on every machine: no norms, scalar products or matrix products of Eigen's, whose order of summation is open.
// Trigonometry is done in double and rounded to float once, because the last bit of a float sine differs between
// libraries. `normalize` of a zero vector is the zero vector. Transforms map objects to the world; that of a
// trace::Instance is read through `as_transform`.
#pragma once

#include <Eigen/Geometry>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/vectors.hpp"

namespace rayreplay::reference {

[[nodiscard]] inline float length(const Vec3& v) {
  return std::sqrt(dot(v, v));
}
[[nodiscard]] inline Vec3 normalize(const Vec3& v) {
  const float size = length(v);
  return size > 0 ? Vec3(v / size) : Vec3::Zero();
}
[[nodiscard]] inline Vec3 lerp(const Vec3& a, const Vec3& b, float t) {
  return a * (1 - t) + b * t;
}

[[nodiscard]] inline Vec3 transform_vector(const Transform& m, const Vec3& v) {
  return {dot(m.row(0).head<3>(), v), dot(m.row(1).head<3>(), v), dot(m.row(2).head<3>(), v)};
}
[[nodiscard]] inline Vec3 transform_point(const Transform& m, const Vec3& p) {
  return transform_vector(m, p) + m.col(3);
}
/// The direction of a surface normal under m: the cofactor matrix, which needs no division (not of unit length).
[[nodiscard]] inline Vec3 transform_normal(const Transform& m, const Vec3& n) {
  const Vec3 a = m.row(0).head<3>();
  const Vec3 b = m.row(1).head<3>();
  const Vec3 c = m.row(2).head<3>();
  return {dot(b.cross(c), n), dot(c.cross(a), n), dot(a.cross(b), n)};
}
/// Whether m turns a right hand into a left one.
[[nodiscard]] inline bool is_mirroring(const Transform& m) {
  return m.leftCols<3>().determinant() < 0;
}

/// The transform that applies b, then a.
template <class Scalar>
[[nodiscard]] Eigen::Matrix<Scalar, 3, 4, Eigen::RowMajor> compose(
    const Eigen::Matrix<Scalar, 3, 4, Eigen::RowMajor>& a, const Eigen::Matrix<Scalar, 3, 4, Eigen::RowMajor>& b) {
  Eigen::Matrix<Scalar, 3, 4, Eigen::RowMajor> c;
  for (Eigen::Index row = 0; row < 3; ++row) {
    for (Eigen::Index column = 0; column < 4; ++column) {
      c(row, column) = dot(a.row(row), b.col(column)) + (column == 3 ? a(row, 3) : Scalar{0});
    }
  }
  return c;
}
[[nodiscard]] inline Transform translation(const Vec3& d) {
  return Transform{{1, 0, 0, d.x()}, {0, 1, 0, d.y()}, {0, 0, 1, d.z()}};
}
[[nodiscard]] inline Transform scaling(const Vec3& s) {
  return Transform{{s.x(), 0, 0, 0}, {0, s.y(), 0, 0}, {0, 0, s.z(), 0}};
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
  return Transform{{1, 0, 0, 0}, {0, c, -s, 0}, {0, s, c, 0}};
}
[[nodiscard]] inline Transform rotation_y(double radians) {
  const float s = sine(radians);
  const float c = cosine(radians);
  return Transform{{c, 0, s, 0}, {0, 1, 0, 0}, {-s, 0, c, 0}};
}

/// Whether m maps space onto a plane, a line or a point, or overflows. The scale of m must not decide, so the
/// determinant is compared with the product of the rows' lengths.
[[nodiscard]] inline bool is_singular(const Transform& m) {
  Eigen::Matrix3d linear = m.leftCols<3>().cast<double>();
  double volume = 1;
  for (Eigen::Index row = 0; row < 3; ++row) {
    const double size = std::hypot(linear(row, 0), linear(row, 1), linear(row, 2));
    volume *= size;
    linear.row(row) /= size;
  }
  // The inverse is computed in float by tracers: the volume must be representable there.
  return !(std::fabs(linear.determinant()) > 1e-7) ||
         !(volume > static_cast<double>(std::numeric_limits<float>::min())) ||
         !(volume < static_cast<double>(std::numeric_limits<float>::max()));
}

}  // namespace rayreplay::reference
