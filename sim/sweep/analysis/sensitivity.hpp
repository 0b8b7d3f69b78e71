// Which parameter moves which metric: Sobol's variance-based indices.
//
// Contract: of a metric y and the varied parameters x: first order S = Var(E[y|x]) / Var(y), what x explains by itself;
// total T = E[Var(y|all but x)] / Var(y), what is lost without x, interactions included. Every configuration counts the
// same, so the indices are of the parameters spread as the sweep spreads them.
//   Full grid (every combination of levels exactly once): both are exact, by analysis of variance, and so are the
// interactions of pairs, S_ab = Var(E[y|a,b]) / Var(y) − S_a − S_b. Values need no order: texts and numbers alike.
//   Anything else (random and Latin hypercube samples, grids with gaps): S is estimated from the data: rows are put
//   into
// bins of equal numbers by the parameter's value (its levels where they are few), and the variance between the bins'
// means is freed of what the variance within them puts there by chance (epsilon squared: Kelley 1935). `noise` is the
// standard deviation of that estimate for a parameter that does nothing. T is not known from such a design. In a grid
// with gaps parameters depend on each other, so that S holds what comes with a parameter as well as what it does.
//   Parameters of one group move together (zipped axes) and have one index. Rows whose y is not a number are left out:
// the grid then has gaps. A metric that never changes has no indices. O(rows · groups), pairs O(rows · groups²).
// Sources: Sobol' (2001); Saltelli et al., Global Sensitivity Analysis (2008), chapters 1 and 4.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rayreplay::sweep {

/// One parameter, or several that move together, over all rows.
struct VariedParameter {
  std::string name;
  std::vector<std::uint32_t> levels;  ///< by row: which of its different values, 0 … count − 1, in the order of values
  std::uint32_t count = 0;
};

enum class Design { FullGrid, Incomplete, Sample };

struct ParameterIndex {
  std::string name;
  std::optional<double> first;  ///< absent: cannot be told (too few rows)
  std::optional<double> total;
  double noise = 0;  ///< 0: exact
};

struct PairIndex {
  std::size_t a = 0, b = 0;
  double share = 0;
};

struct Sensitivity {
  Design design = Design::FullGrid;
  std::uint64_t rows = 0;      ///< with a value
  std::uint64_t expected = 0;  ///< of the full grid; 0 where that is too large to count
  double mean = 0, variance = 0;
  std::vector<ParameterIndex> parameters;  ///< as given
  std::vector<PairIndex> pairs;            ///< full grids; greatest first
  std::vector<std::string> notes;          ///< for people
};

/// `sampled`: values were drawn, not taken from a grid.
[[nodiscard]] Sensitivity sensitivity(std::span<const VariedParameter> parameters, std::span<const double> values,
                                      bool sampled);

}  // namespace rayreplay::sweep
