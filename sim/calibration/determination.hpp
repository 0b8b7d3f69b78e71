// Certainty of fitted values, from residuals: sensitivities, standard errors, and values that the data leave open.
//
// Contract: from the Jacobian of the residuals by u = ln(value + offset) (least_squares.hpp), and which variables are
// held by a bound. With the covariance C = (JᵀJ)⁻¹ of the free variables that change residuals:
//   sensitivity     root mean square of the variable's column: change of a residual for a change of u by 1;
//   standard error  sqrt(C_ii · cost / (rows - free variables)) of u; none where there are no more rows than these;
//   reaction        sqrt(C_ii): change of u for independent errors of 1 in the residuals;
//   condition       largest over smallest singular value of J with columns of length 1; infinite where J has not the
//                   full rank.
// A variable is `Idle` if it changes no residual, `Undetermined` if its reaction is above kMostReaction: an error of
// 1 % then moves the value by 50 % or more. `partners` are the variables with a large part in the least determined
// direction of J (its last right singular vector), if that has undetermined ones. Source: textbook linear regression
// (Draper, Smith: Applied Regression Analysis). O(rows · variables²).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <Eigen/Core>

namespace rayreplay::calibration {

inline constexpr double kMostReaction = 50;

enum class Known : std::uint8_t { Determined, Held, Undetermined, Idle };

[[nodiscard]] const char* to_string(Known known);  ///< "determined", "held", "undetermined", "idle"

struct Determination {
  struct Of {
    Known known = Known::Determined;
    double sensitivity = 0;
    std::optional<double> standard_error, reaction;  ///< of u; none of held and idle variables
  };
  std::vector<Of> variables;
  std::optional<double> condition;  ///< none without free variables
  std::vector<std::size_t> partners;
};

[[nodiscard]] Determination determine(const Eigen::MatrixXd& jacobian, double cost, const std::vector<bool>& held);

}  // namespace rayreplay::calibration
