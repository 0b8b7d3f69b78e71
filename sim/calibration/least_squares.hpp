// Bounded nonlinear least squares for functions that are costly and partly constant, such as times of a simulator.
//
// Contract: `least_squares` looks for values within bounds for which the sum of squared residuals, the *cost*, is
// least. Each variable is worked on as u = ln(value + offset), so that steps are ratios; the offset is 0, or 1 where
// the lower bound is 0. Values but the start's are rounded to six significant digits, those of whole variables to
// whole numbers; the function sees rounded values alone. A start beyond a bound is moved to it.
//   1. Scan: the start, four values of each variable alone, evenly in u, and points of a Halton sequence (Halton 1960).
//   2. Levenberg-Marquardt (Levenberg 1944, Marquardt 1963) from the start, and from the best point of the scan where
//      that is better. Derivatives are central differences over 5 % of the value, at least 1 of a whole variable, so
//      that they see past plateaus. A variable on a bound that the gradient pushes against is held; steps are cut to
//      the bounds and to a factor of 4.5.
//   3. Polish: compass search from the best point, with ratios of 20 % down to 0.08 %, and whole steps of at least 1,
//      which finds what differences over jumps miss.
//   4. A second search: steps 2 and 3 from the corner of the bounds that lies opposite to the result, with at most a
//      third of the evaluations. The better end is the result; `other` is the end of the other search, where both
//      searches ended by themselves and a variable that changes residuals differs by more than 5 %, whole ones by more
//      than 1.
//   5. A variable that changes no residual at the best point goes back to its start, where that costs nothing.
// The search ends where the cost is 0, where the smallest compass step improves nothing, or when the evaluations are
// used up. The result is no worse than the start. A global minimum is not promised: `other` shows some cases in which
// there are several minima.
//
// `residuals` gets several points at once and returns one vector for each, all of one length; an empty one where the
// function has no value there (such a point is avoided; at the start it is an Internal error). No point is asked for
// twice. Deterministic. At most `most_evaluations` points are asked for, of which 2 a variable are kept for the
// Jacobian at the result: Usage if it is less than 1 + 2 a variable. Between evaluations: O(rows · variables²).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/Core>

namespace rayreplay::calibration {

struct Variable {
  double start = 0;
  double low = 0;  ///< at least 0
  double high = 0;
  bool whole = false;

  [[nodiscard]] double offset() const {
    return low > 0 ? 0 : 1;
  }
};

using Residuals = std::function<std::vector<Eigen::VectorXd>(std::span<const Eigen::VectorXd> points)>;

struct SolverOptions {
  std::size_t most_evaluations = 200;
  /// Called after each batch of points, with the number of points so far and the least cost.
  std::function<void(std::size_t evaluations, double cost)> on_evaluated{};
};

enum class Stop : std::uint8_t {
  Exact,        ///< the cost is 0, but for rounding
  Converged,    ///< no small step improves it
  Evaluations,  ///< used up
};

/// The end of another search.
struct OtherEnd {
  Eigen::VectorXd values;
  double cost = 0;
  std::vector<bool> differs;  ///< by variable
};

struct Solution {
  Eigen::VectorXd values;
  Eigen::VectorXd residuals;
  double start_cost = 0, cost = 0;
  Eigen::MatrixXd jacobian;  ///< of the residuals by u, at the values
  std::size_t evaluations = 0;
  Stop stop = Stop::Converged;
  std::optional<OtherEnd> other{};  ///< of the second search; none where both ended at one point, or one did not end
};

[[nodiscard]] std::size_t least_evaluations(std::size_t variables);

[[nodiscard]] Solution least_squares(const Residuals& residuals, std::span<const Variable> variables,
                                     const SolverOptions& options = {});

}  // namespace rayreplay::calibration
