#include "sim/calibration/determination.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <Eigen/SVD>

namespace rayreplay::calibration {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kLeastSingular = 1e-12;  // of the largest
constexpr double kLargePart = 0.3;        // of a direction of length 1

}  // namespace

const char* to_string(Known known) {
  constexpr std::array kNames = {"determined", "held", "undetermined", "idle"};
  return kNames.at(static_cast<std::size_t>(known));
}

Determination determine(const MatrixXd& jacobian, double cost, const std::vector<bool>& held) {
  Determination result;
  result.variables.resize(held.size());
  const auto rows = static_cast<double>(jacobian.rows());
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < held.size(); ++i) {
    Determination::Of& one = result.variables[i];
    const double length = jacobian.col(static_cast<Index>(i)).norm();
    one.sensitivity = rows > 0 ? length / std::sqrt(rows) : 0;
    one.known = length == 0 ? Known::Idle : held[i] ? Known::Held : Known::Determined;
    if (one.known == Known::Determined) {
      free.push_back(i);
    }
  }
  if (free.empty()) {
    return result;
  }
  const auto number = static_cast<Index>(free.size());
  MatrixXd columns(jacobian.rows(), number);
  VectorXd lengths(number);
  for (Index j = 0; j < number; ++j) {
    const auto column = jacobian.col(static_cast<Index>(free[static_cast<std::size_t>(j)]));
    lengths[j] = column.norm();
    columns.col(j) = column / lengths[j];
  }
  const Eigen::JacobiSVD<MatrixXd> svd(columns, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const VectorXd& singular = svd.singularValues();
  const bool full = singular.size() == number && singular[number - 1] > kLeastSingular * singular[0];
  result.condition = full ? singular[0] / singular[number - 1] : std::numeric_limits<double>::infinity();
  const double spare = rows - static_cast<double>(number);
  bool any = false;
  for (Index j = 0; j < number; ++j) {
    Determination::Of& one = result.variables[free[static_cast<std::size_t>(j)]];
    double sum = 0;
    for (Index k = 0; k < singular.size(); ++k) {
      const double part = svd.matrixV()(j, k);
      const double value = std::max(singular[k], kLeastSingular * singular[0]);
      sum += part * part / (value * value);
    }
    one.reaction = std::sqrt(sum) / lengths[j];
    if (spare > 0) {
      one.standard_error = *one.reaction * std::sqrt(cost / spare);
    }
    if (*one.reaction > kMostReaction) {
      one.known = Known::Undetermined;
      any = true;
    }
  }
  if (any && number > 1) {
    const VectorXd direction = svd.matrixV().col(svd.matrixV().cols() - 1);
    for (Index j = 0; j < number; ++j) {
      if (std::abs(direction[j]) >= kLargePart) {
        result.partners.push_back(free[static_cast<std::size_t>(j)]);
      }
    }
    if (result.partners.size() < 2) {
      result.partners.clear();
    }
  }
  return result;
}

}  // namespace rayreplay::calibration
