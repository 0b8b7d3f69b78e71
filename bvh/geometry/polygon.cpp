#include "bvh/geometry/polygon.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Geometry>

#include "bvh/geometry/rounding.hpp"

namespace rayreplay::bvh {
namespace {

using Point = Polygon::Point;

/// Intersection of the edge with the plane. `inner` and `outer` are on different sides, so the result does not depend
/// on the edge's direction.
Point crossing(const Point& inner, const Point& outer, unsigned axis, double position) {
  const double share = (position - inner[axis]) / (outer[axis] - inner[axis]);
  Point point = inner + share * (outer - inner);
  point[axis] = position;
  return point;
}

struct Bounds {
  Point low{kFar, kFar, kFar};
  Point high{-kFar, -kFar, -kFar};

  void extend(const Point& point) {
    low = low.cwiseMin(point);
    high = high.cwiseMax(point);
  }
  /// Rounded outward, with a margin for the rounding of eight clips in sequence.
  [[nodiscard]] Box outward() const {
    constexpr double kRounding = 0x1p-48;
    Box box;
    for (unsigned k = 0; k < 3 && low[0] <= high[0]; ++k) {
      box.low[k] = round_down(low[k] - std::abs(low[k]) * kRounding);
      box.high[k] = round_up(high[k] + std::abs(high[k]) * kRounding);
    }
    return box;
  }

 private:
  static constexpr double kFar = std::numeric_limits<double>::infinity();
};

}  // namespace

void Polygon::clip(const Box& box, unsigned first_axis) {
  for (unsigned i = 0; i < 3; ++i) {
    const unsigned axis = (first_axis + i) % 3;
    clip(axis, -1, -static_cast<double>(box.low[axis]));
    clip(axis, 1, static_cast<double>(box.high[axis]));
  }
}

void Polygon::clip(unsigned axis, double sign, double position) {
  const auto outside = [&](const Point& point) { return sign * point[axis] > position; };
  bool any = false;
  for (std::size_t i = 0; i < count_; ++i) {
    any = any || outside(points_[i]);
  }
  if (!any) {
    return;
  }
  const std::array<Point, kMax> points = points_;
  const std::size_t count = count_;
  count_ = 0;
  // Rounding may make a sliver slightly concave; the number of vertices still stays within the limit.
  const auto keep = [&](const Point& point) {
    if (count_ < kMax) {
      points_[count_++] = point;
    }
  };
  for (std::size_t i = 0; i < count; ++i) {
    const Point& here = points[i];
    const Point& next = points[i + 1 == count ? 0 : i + 1];
    if (!outside(here)) {
      keep(here);
    }
    if (outside(here) != outside(next)) {
      keep(outside(here) ? crossing(next, here, axis, sign * position) : crossing(here, next, axis, sign * position));
    }
  }
}

void Polygon::split_bounds(unsigned axis, double position, Box& below, Box& above) const {
  Bounds lower;
  Bounds upper;
  for (std::size_t i = 0; i < count_; ++i) {
    const Point& here = points_[i];
    const Point& next = points_[i + 1 == count_ ? 0 : i + 1];
    if (here[axis] <= position) {
      lower.extend(here);
    }
    if (here[axis] >= position) {
      upper.extend(here);
    }
    if (here[axis] < position && next[axis] > position) {
      const Point point = crossing(here, next, axis, position);
      lower.extend(point);
      upper.extend(point);
    } else if (here[axis] > position && next[axis] < position) {
      const Point point = crossing(next, here, axis, position);
      lower.extend(point);
      upper.extend(point);
    }
  }
  below = lower.outward();
  above = upper.outward();
}

double Polygon::double_area() const {
  Point sum;
  for (std::size_t i = 2; i < count_; ++i) {
    sum += (points_[i - 1] - points_[0]).cross(points_[i] - points_[0]);
  }
  return std::hypot(sum[0], sum[1], sum[2]);
}

Box Polygon::bounds() const {
  Bounds bounds;
  for (std::size_t i = 0; i < count_; ++i) {
    bounds.extend(points_[i]);
  }
  return bounds.outward();
}

}  // namespace rayreplay::bvh
