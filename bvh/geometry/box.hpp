// Axis-aligned boxes of floats.
//
// Contract: a box is closed; it is empty where low > high on an axis, the default. O(1).
#pragma once

#include <algorithm>
#include <limits>

#include "base/vectors.hpp"

namespace rayreplay::bvh {

/// Not Eigen::AlignedBox, whose empty box has the largest finite floats as planes: an empty box must have infinite
/// planes.
struct Box {
  Vec3 low{kFar, kFar, kFar};
  Vec3 high{-kFar, -kFar, -kFar};

  void extend(const Box& other) {
    low = low.cwiseMin(other.low);
    high = high.cwiseMax(other.high);
  }
  [[nodiscard]] bool empty() const {
    return (low.array() > high.array()).any();
  }
  [[nodiscard]] bool contains(const Box& other) const {
    return (low.array() <= other.low.array()).all() && (high.array() >= other.high.array()).all();
  }
  bool operator==(const Box&) const = default;

 private:
  static constexpr float kFar = std::numeric_limits<float>::infinity();
};

[[nodiscard]] inline Box intersection(const Box& a, const Box& b) {
  return {a.low.cwiseMax(b.low), a.high.cwiseMin(b.high)};
}

/// The parts of a box on either side of a plane across the axis.
inline void cut(const Box& box, unsigned axis, float position, Box& below, Box& above) {
  below = above = box;
  below.high[axis] = std::min(box.high[axis], position);
  above.low[axis] = std::max(box.low[axis], position);
}

/// The extents, in double, because those of a large box overflow a float.
[[nodiscard]] inline Vec3d extents(const Box& box) {
  return box.high.cast<double>() - box.low.cast<double>();
}

/// Half the surface area; 0 for an empty box.
[[nodiscard]] inline double half_area(const Box& box) {
  if (box.empty()) {
    return 0;
  }
  const Vec3d extent = extents(box);
  return extent[0] * extent[1] + extent[1] * extent[2] + extent[2] * extent[0];
}

}  // namespace rayreplay::bvh
