// Vectors, boxes and transforms of three dimensions: Eigen's types under the project's names.
//
// Contract: a new vector or matrix is zero (EIGEN_INITIALIZE_MATRICES_BY_ZERO, cmake/functions.cmake). Component-wise
// operations are Eigen's own. Sums of products are taken here in the written order, (x + y) + z, because Eigen leaves
// the order open, and another order changes the last bit of a trace. Expressions of Eigen refer to their operands:
// functions return a named type, and variables of expressions are not `auto`.
#pragma once

#include <Eigen/Core>
#include <array>

namespace rayreplay {

using Vec2 = Eigen::Vector2f;
using Vec3 = Eigen::Vector3f;
using Vec3d = Eigen::Vector3d;

/// 3×4, row-major as in Vulkan and in traces: the last column is the translation.
using Transform = Eigen::Matrix<float, 3, 4, Eigen::RowMajor>;
using Transformd = Eigen::Matrix<double, 3, 4, Eigen::RowMajor>;

/// The transform that a trace holds as twelve floats, in place.
[[nodiscard]] inline Eigen::Map<const Transform> as_transform(const std::array<float, 12>& rows) {
  return Eigen::Map<const Transform>(rows.data());
}

[[nodiscard]] inline Eigen::Map<Transform> as_transform(std::array<float, 12>& rows) {
  return Eigen::Map<Transform>(rows.data());
}

/// Scalar product, summed from x to z.
template <typename A, typename B>
[[nodiscard]] typename A::Scalar dot(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

}  // namespace rayreplay
