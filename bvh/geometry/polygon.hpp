// A convex polygon that is clipped by planes across an axis: the part of a triangle inside a box.
//
// Contract: coordinates in double; a vertex on the plane stays. Each clip adds one vertex at most. Errors of a clip: a
// few roundings of double, a billionth of a float's step. Source: Sutherland and Hodgman, "Reentrant polygon clipping",
// CACM 1974.
#pragma once

#include <array>
#include <cstddef>

#include "bvh/geometry/box.hpp"

namespace rayreplay::bvh {

class Polygon {
 public:
  using Point = Vec3d;

  Polygon(const Point& a, const Point& b, const Point& c) : points_{a, b, c}, count_(3) {}

  [[nodiscard]] bool empty() const {
    return count_ == 0;
  }
  /// Keeps the part inside the box. `axis`: the one that cuts off most, to save work.
  void clip(const Box& box, unsigned first_axis = 0);
  /// The boxes of the parts on either side of a plane across the axis, equal to their `bounds`.
  void split_bounds(unsigned axis, double position, Box& below, Box& above) const;
  /// Twice the area: |Σ cross products| of the fan around the first vertex.
  [[nodiscard]] double double_area() const;
  /// The polygon's box, rounded outward; empty for an empty polygon.
  [[nodiscard]] Box bounds() const;

 private:
  static constexpr std::size_t kMax = 3 + 6 + 2;

  /// Keeps sign · x <= position.
  void clip(unsigned axis, double sign, double position);

  std::array<Point, kMax> points_;
  std::size_t count_;
};

}  // namespace rayreplay::bvh
