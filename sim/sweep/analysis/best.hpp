// The best of a sweep, and the configurations that nothing else beats in everything.
//
// Contract: values that are not numbers (NaN) are left out. `best_of`: indices of the `most` best values, best first,
// equal ones by index; O(n log most). `pareto_front`: indices, ascending, of the points that no other point dominates
// (as good in every goal, better in one); equal points stand on the front together; exact; O(n log n) for two goals,
// O(n · front) for more. Goal None is an Internal error: ask the user first.
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
