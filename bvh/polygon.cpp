#include "bvh/polygon.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bvh/rounding.hpp"

namespace rayreplay::bvh {
double Polygon::low(std::size_t axis) const {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count_; ++i) {
    least = std::min(least, points_[i][axis]);
  }
  return least;
}

double Polygon::high(std::size_t axis) const {
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count_; ++i) {
    most = std::max(most, points_[i][axis]);
  }
  return most;
}

void Polygon::clip(const Box& box) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    clip_below(axis, static_cast<double>(box.low[axis]));
    clip_above(axis, static_cast<double>(box.high[axis]));
  }
}

void Polygon::clip_above(std::size_t axis, double position) {
  clip(axis, 1, position);
}

void Polygon::clip_below(std::size_t axis, double position) {
  clip(axis, -1, -position);
}

/// Keeps sign · x <= position.
void Polygon::clip(std::size_t axis, double sign, double position) {
  const auto outside = [&](const Point& point) { return sign * point[axis] > position; };
  if (std::none_of(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(count_), outside)) {
    return;
  }
  std::array<Point, kMost> kept;
  std::size_t kept_count = 0;
  // Rounding may make a sliver concave by a hair; no more vertices than there is room for come of it.
  const auto keep = [&](const Point& point) {
    if (kept_count < kMost) {
      kept[kept_count++] = point;
    }
  };
  for (std::size_t i = 0; i < count_; ++i) {
    const Point& here = points_[i];
    const Point& next = points_[(i + 1) % count_];
    if (!outside(here)) {
      keep(here);
    }
    if (outside(here) != outside(next)) {
      // From the inner end, so that both directions of an edge give the same point.
      const Point& inner = outside(here) ? next : here;
      const Point& outer = outside(here) ? here : next;
      const double share = (sign * position - inner[axis]) / (outer[axis] - inner[axis]);
      Point point;
      for (std::size_t k = 0; k < 3; ++k) {
        point[k] = inner[k] + share * (outer[k] - inner[k]);
      }
      point[axis] = sign * position;
      keep(point);
    }
  }
  points_ = kept;
  count_ = kept_count;
}

double Polygon::double_area() const {
  Point sum{};
  for (std::size_t i = 2; i < count_; ++i) {
    Point u;
    Point v;
    for (std::size_t k = 0; k < 3; ++k) {
      u[k] = points_[i - 1][k] - points_[0][k];
      v[k] = points_[i][k] - points_[0][k];
    }
    for (std::size_t k = 0; k < 3; ++k) {
      sum[k] += u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    }
  }
  return std::hypot(sum[0], sum[1], sum[2]);
}

Box Polygon::bounds() const {
  Box box;
  if (empty()) {
    return box;
  }
  constexpr double kRounding = 0x1p-48;  // generous for a chain of eight clips
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double from = low(axis);
    const double to = high(axis);
    const double slack = std::max(std::abs(from), std::abs(to)) * kRounding;
    box.low[axis] = round_down(from - slack);
    box.high[axis] = round_up(to + slack);
  }
  return box;
}

}  // namespace rayreplay::bvh
