// Axis-aligned box. Empty: low > high, the default.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace rayreplay::bvh {

struct Box {
  std::array<float, 3> low{kFar, kFar, kFar};
  std::array<float, 3> high{-kFar, -kFar, -kFar};

  void extend(const Box& other) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], other.low[axis]);
      high[axis] = std::max(high[axis], other.high[axis]);
    }
  }
  [[nodiscard]] bool empty() const {
    return low[0] > high[0] || low[1] > high[1] || low[2] > high[2];
  }
  [[nodiscard]] bool contains(const Box& other) const {
    return low[0] <= other.low[0] && low[1] <= other.low[1] && low[2] <= other.low[2] && high[0] >= other.high[0] &&
           high[1] >= other.high[1] && high[2] >= other.high[2];
  }
  bool operator==(const Box&) const = default;

 private:
  static constexpr float kFar = std::numeric_limits<float>::infinity();
};

/// The intersection.
[[nodiscard]] inline Box intersection(const Box& a, const Box& b) {
  Box box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.low[axis] = std::max(a.low[axis], b.low[axis]);
    box.high[axis] = std::min(a.high[axis], b.high[axis]);
  }
  return box;
}

/// The parts of a box on either side of a plane across the axis.
inline void cut(const Box& box, std::size_t axis, float position, Box& below, Box& above) {
  below = above = box;
  below.high[axis] = std::min(box.high[axis], position);
  above.low[axis] = std::max(box.low[axis], position);
}

/// Half the surface area; 0 for an empty box. In double, because that of a large box overflows a float.
[[nodiscard]] inline double half_area(const Box& box) {
  if (box.empty()) {
    return 0;
  }
  const double x = static_cast<double>(box.high[0]) - static_cast<double>(box.low[0]);
  const double y = static_cast<double>(box.high[1]) - static_cast<double>(box.low[1]);
  const double z = static_cast<double>(box.high[2]) - static_cast<double>(box.low[2]);
  return x * y + y * z + z * x;
}

}  // namespace rayreplay::bvh
