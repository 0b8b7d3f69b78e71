#include "sim/sweep/analysis/best.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"

namespace rayreplay::sweep {
namespace {

/// Turns every goal into minimisation.
double sign(experiment::Goal goal) {
  if (goal == experiment::Goal::None) {
    throw Error(ErrorKind::Internal, {"a metric without a goal has no best value", "", "", "", ""});
  }
  return goal == experiment::Goal::More ? -1 : 1;
}

using Point = std::vector<double>;

bool dominates(const Point& a, const Point& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) {
      return false;
    }
    better |= a[i] < b[i];
  }
  return better;
}

}  // namespace

std::vector<std::size_t> best_of(std::span<const double> values, experiment::Goal goal, std::size_t most) {
  const double side = sign(goal);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) {
      order.push_back(i);
    }
  }
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
    const double left = values[a] * side, right = values[b] * side;
    return left != right ? left < right : a < b;
  });
  order.erase(end, order.end());
  return order;
}

std::vector<std::size_t> pareto_front(std::span<const GoalColumn> columns) {
  std::vector<std::size_t> order;
  std::vector<Point> points;
  const std::size_t rows = columns.empty() ? 0 : columns.front().values.size();
  points.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    bool whole = true;
    for (const GoalColumn& column : columns) {
      points[i].push_back(column.values[i] * sign(column.goal));
      whole &= !std::isnan(column.values[i]);
    }
    if (whole) {
      order.push_back(i);
    }
  }
  // In this order, a point can be dominated only by an earlier one.
  std::ranges::sort(
      order, [&](std::size_t a, std::size_t b) { return points[a] != points[b] ? points[a] < points[b] : a < b; });
  std::vector<std::size_t> front;
  for (const std::size_t one : order) {
    // With two goals, the last point of the front has the smallest second value, so one comparison is enough.
    const bool beaten =
        columns.size() == 2
            ? !front.empty() && dominates(points[front.back()], points[one])
            : std::ranges::any_of(front, [&](std::size_t other) { return dominates(points[other], points[one]); });
    if (!beaten) {
      front.push_back(one);
    }
  }
  std::ranges::sort(front);
  return front;
}

}  // namespace rayreplay::sweep
