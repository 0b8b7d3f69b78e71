// Sensitivity of metrics to parameters: Sobol's variance-based indices.
//
// Contract: for a metric y and the varied parameters x, the first-order index is S = Var(E[y|x]) / Var(y): the share
// that x explains alone. The total index is T = E[Var(y|all but x)] / Var(y): the share that is lost without x,
// interactions included. Every configuration has equal weight, so the indices describe the parameters with the
// distribution that the sweep gives them.
//
// Full grid (every combination of levels exactly once): S and T are exact, by analysis of variance. The interactions of
// pairs are exact too: S_ab = Var(E[y|a,b]) / Var(y) − S_a − S_b. Levels need no order, so texts work as well as
// numbers.
//
// Any other design (random and Latin hypercube samples, grids with gaps): S is an estimate. Rows are sorted into bins
// of equal size by the parameter's value (its levels if there are few). The variance between the bins' means is
// corrected for the variance within the bins (epsilon squared: Kelley 1935). `noise` is the standard deviation of that
// estimate for a parameter without influence. T is not available. In a grid with gaps the parameters are correlated, so
// S of one parameter includes effects of others.
//
// Zipped axes form one group with one index. Rows with a NaN metric are left out; the grid then has gaps. A constant
// metric has no indices. O(rows · groups), pairs O(rows · groups²). Sources: Sobol' (2001); Saltelli et al., Global
// Sensitivity Analysis (2008), chapters 1 and 4.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rayreplay::sweep {

/// One parameter, or a group of zipped ones, over all rows.
struct VariedParameter {
  std::string name;
  std::vector<std::uint32_t> levels;  ///< by row: the rank of its value among the distinct values, 0 … count − 1
  std::uint32_t count = 0;
};

enum class Design { FullGrid, Incomplete, Sample };

struct ParameterIndex {
  std::string name;
  std::optional<double> first;  ///< absent: too few rows
  std::optional<double> total;
  double noise = 0;  ///< 0: exact
};

struct PairIndex {
  std::size_t a = 0, b = 0;
  double share = 0;
};

struct Sensitivity {
  Design design = Design::FullGrid;
  std::uint64_t rows = 0;      ///< rows with a value
  std::uint64_t expected = 0;  ///< rows of the full grid; 0 on overflow
  double mean = 0, variance = 0;
  std::vector<ParameterIndex> parameters;  ///< in the order given
  std::vector<PairIndex> pairs;            ///< full grids only; greatest first
  std::vector<std::string> notes;          ///< remarks for the user
};

/// `sampled`: the values were drawn, not taken from a grid.
[[nodiscard]] Sensitivity sensitivity(std::span<const VariedParameter> parameters, std::span<const double> values,
                                      bool sampled);

}  // namespace rayreplay::sweep
