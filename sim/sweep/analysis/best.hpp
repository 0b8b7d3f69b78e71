// The best configurations of a sweep, and its Pareto front.
//
// Contract: NaN values are left out. `best_of` returns the indices of the `most` best values, best first, ties by
// index; O(n log most). `pareto_front` returns the indices, ascending, of the points that no other point dominates (at
// least as good in every goal, better in one). Equal points are on the front together. Exact; O(n log n) for two goals,
// O(n · front) for more. Goal None is an Internal error: callers ask the user first.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/settings/metrics.hpp"

namespace rayreplay::sweep {

[[nodiscard]] std::vector<std::size_t> best_of(std::span<const double> values, experiment::Goal goal, std::size_t most);

struct GoalColumn {
  std::span<const double> values;
  experiment::Goal goal = experiment::Goal::More;
};

[[nodiscard]] std::vector<std::size_t> pareto_front(std::span<const GoalColumn> columns);

}  // namespace rayreplay::sweep
