#include "sim/calibration/least_squares.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <Eigen/QR>

#include "base/error.hpp"

namespace rayreplay::calibration {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kDigits = 6;
constexpr double kDifference = 0.05;  // of the value, for derivatives
constexpr std::size_t kAxisPoints = 4;
constexpr std::size_t kSpreadPoints = 4;  // of the Halton sequence, a variable
constexpr std::size_t kScanPart = 3;      // at most this part of the evaluations
constexpr std::size_t kAgainPart = 3;     // at most this part of the evaluations for the second search
constexpr double kMostStep = 1.5;         // of u
constexpr double kLeastStep = 1e-5;       // of u
constexpr double kExactCost = 1e-20;      // a residual
constexpr double kLeastGain = 1e-3;       // of the cost, for a step that counts
constexpr std::array kCompassSteps = {0.2, 0.05, 0.0125, 0.003125, 0.00078125};
constexpr std::size_t kMostIterations = 60;

/// Six significant digits. The same on every machine: the text of a number is.
double rounded(double value) {
  const std::string text = fmt::format("{:.{}e}", value, kDigits - 1);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

class Solver {
 public:
  Solver(const Residuals& residuals, std::span<const Variable> variables, const SolverOptions& options)
      : residuals_(&residuals), variables_(variables), options_(&options) {}

  Solution run() {
    const std::size_t kept = 2 * variables_.size();
    if (options_->most_evaluations < least_evaluations(variables_.size())) {
      throw Error(ErrorKind::Usage, {"too few evaluations", "", fmt::format("{}", options_->most_evaluations),
                                     fmt::format("at least {}", least_evaluations(variables_.size())), ""});
    }
    budget_ = options_->most_evaluations - kept;
    VectorXd start(count());
    for (Index i = 0; i < count(); ++i) {
      start[i] = std::clamp(variable(i).start, variable(i).low, variable(i).high);
    }
    evaluate({start});
    const double start_cost = cost(start);
    if (!std::isfinite(start_cost)) {
      throw Error(ErrorKind::Internal, {"the function has no value at the start", "least squares", "", "", ""});
    }
    best_ = start;
    scan(start);
    const VectorXd scanned = best_;
    descend(start);
    if (scanned != start) {
      descend(scanned);
    }
    bool ended = polish();
    const std::optional<VectorXd> other = search_again(ended);
    budget_ = options_->most_evaluations - kept;
    return_idle(start);
    budget_ = options_->most_evaluations;
    MatrixXd jacobian = jacobian_at(best_).value_or(MatrixXd::Zero(values(best_).size(), count()));
    const Stop stop = is_exact() ? Stop::Exact : ended ? Stop::Converged : Stop::Evaluations;
    auto other_found = other ? other_end(*other, jacobian) : std::nullopt;
    return {best_, values(best_),         start_cost, cost(best_), std::move(jacobian), known_.size(),
            stop,  std::move(other_found)};
  }

 private:
  using Key = std::vector<double>;

  [[nodiscard]] Index count() const {
    return static_cast<Index>(variables_.size());
  }
  [[nodiscard]] const Variable& variable(Index i) const {
    return variables_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] double to_u(Index i, double value) const {
    return std::log(value + variable(i).offset());
  }
  [[nodiscard]] double least_u(Index i) const {
    return to_u(i, variable(i).low);
  }
  [[nodiscard]] double most_u(Index i) const {
    return to_u(i, variable(i).high);
  }

  /// The value at u, as the function sees it.
  [[nodiscard]] double snapped(Index i, double u) const {
    const Variable& one = variable(i);
    const double value = std::exp(u) - one.offset();
    return std::clamp(one.whole ? std::round(value) : rounded(value), one.low, one.high);
  }

  static Key key_of(const VectorXd& point) {
    return {point.begin(), point.end()};
  }
  [[nodiscard]] bool is_known(const VectorXd& point) const {
    return known_.contains(key_of(point));
  }
  /// Empty where the function has no value.
  [[nodiscard]] const VectorXd& values(const VectorXd& point) const {
    return known_.at(key_of(point));
  }
  [[nodiscard]] double cost(const VectorXd& point) const {
    const VectorXd& found = values(point);
    return found.size() == 0 || !found.allFinite() ? kInfinity : found.squaredNorm();
  }
  [[nodiscard]] bool is_exact() const {
    return cost(best_) <= kExactCost * static_cast<double>(values(best_).size());
  }

  /// Asks for the points that are not known yet; false if the evaluations do not suffice for all of them.
  bool evaluate(const std::vector<VectorXd>& points) {
    std::vector<VectorXd> asked;
    for (const VectorXd& point : points) {
      if (!is_known(point) && std::ranges::find(asked, point) == asked.end()) {
        asked.push_back(point);
      }
    }
    if (asked.empty()) {
      return true;
    }
    if (known_.size() + asked.size() > budget_) {
      return false;
    }
    std::vector<VectorXd> found = (*residuals_)(asked);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      known_.emplace(key_of(asked[i]), std::move(found[i]));
      least_cost_ = std::min(least_cost_, cost(asked[i]));
    }
    if (options_->on_evaluated) {
      options_->on_evaluated(known_.size(), least_cost_);
    }
    return true;
  }

  void take_if_better(const VectorXd& point) {
    if (cost(point) < cost(best_)) {
      best_ = point;
    }
  }

  void scan(const VectorXd& start) {
    const std::size_t most = budget_ / kScanPart;
    std::vector<VectorXd> points;
    for (std::size_t step = 0; step < kAxisPoints; ++step) {
      for (Index i = 0; i < count(); ++i) {
        VectorXd point = start;
        point[i] = between(i, static_cast<double>(step) / (kAxisPoints - 1));
        points.push_back(std::move(point));
      }
    }
    if (count() > 1) {
      constexpr std::array kPrimes = {2U, 3U, 5U, 7U, 11U, 13U, 17U, 19U, 23U, 29U};
      for (std::uint32_t number = 1; number <= kSpreadPoints * variables_.size(); ++number) {
        VectorXd point(count());
        for (Index i = 0; i < count(); ++i) {
          point[i] = between(i, halton(number, kPrimes[static_cast<std::size_t>(i) % kPrimes.size()]));
        }
        points.push_back(std::move(point));
      }
    }
    points.resize(std::min(points.size(), most));
    if (evaluate(points)) {
      std::ranges::for_each(points, [this](const VectorXd& point) { take_if_better(point); });
    }
  }

  [[nodiscard]] double between(Index i, double share) const {
    return snapped(i, least_u(i) + share * (most_u(i) - least_u(i)));
  }

  /// The radical inverse of the number.
  static double halton(std::uint32_t number, std::uint32_t base) {
    double result = 0;
    for (double digit = 1.0 / base; number > 0; number /= base, digit /= base) {
      result += digit * (number % base);
    }
    return result;
  }

  /// The point with variable i a ratio away, at least 1 of a whole variable; cut to the bounds.
  [[nodiscard]] VectorXd moved(const VectorXd& point, Index i, double step) const {
    VectorXd result = point;
    result[i] = snapped(i, std::clamp(to_u(i, point[i]) + step, least_u(i), most_u(i)));
    if (variable(i).whole && result[i] == point[i]) {
      result[i] = std::clamp(point[i] + (step > 0 ? 1 : -1), variable(i).low, variable(i).high);
    }
    return result;
  }

  /// By u; none if the evaluations do not suffice.
  std::optional<MatrixXd> jacobian_at(const VectorXd& point) {
    std::vector<VectorXd> points;
    for (Index i = 0; i < count(); ++i) {
      points.push_back(moved(point, i, -kDifference));
      points.push_back(moved(point, i, kDifference));
    }
    if (!evaluate(points)) {
      return std::nullopt;
    }
    MatrixXd jacobian = MatrixXd::Zero(values(point).size(), count());
    for (Index i = 0; i < count(); ++i) {
      // One-sided where the other side is beyond a bound or has no value.
      const auto side = [&](const VectorXd& other) -> const VectorXd& {
        return std::isfinite(cost(other)) ? other : point;
      };
      const VectorXd& below = side(points[static_cast<std::size_t>(2 * i)]);
      const VectorXd& above = side(points[static_cast<std::size_t>(2 * i + 1)]);
      if (below[i] < above[i]) {
        jacobian.col(i) = (values(above) - values(below)) / (to_u(i, above[i]) - to_u(i, below[i]));
      }
    }
    return jacobian;
  }

  /// Variables that are not held by a bound.
  [[nodiscard]] std::vector<Index> free_at(const VectorXd& point, const VectorXd& gradient) const {
    std::vector<Index> result;
    for (Index i = 0; i < count(); ++i) {
      const bool held = (point[i] <= variable(i).low && gradient[i] > 0) ||
                        (point[i] >= variable(i).high && gradient[i] < 0) || gradient[i] == 0;
      if (!held) {
        result.push_back(i);
      }
    }
    return result;
  }

  /// The damped step of the free variables: least squares of J d = -r with the rows sqrt(damping) |J_i| d_i = 0.
  [[nodiscard]] VectorXd step_of(const MatrixXd& jacobian, const VectorXd& residuals, const std::vector<Index>& free,
                                 double damping) const {
    const auto number = static_cast<Index>(free.size());
    const Index rows = jacobian.rows();
    MatrixXd system = MatrixXd::Zero(rows + number, number);
    VectorXd right = VectorXd::Zero(rows + number);
    right.head(rows) = -residuals;
    for (Index j = 0; j < number; ++j) {
      const auto column = jacobian.col(free[static_cast<std::size_t>(j)]);
      system.col(j).head(rows) = column;
      system(rows + j, j) = std::sqrt(damping) * column.norm();
    }
    const VectorXd solved = system.colPivHouseholderQr().solve(right);
    VectorXd step = VectorXd::Zero(count());
    for (Index j = 0; j < number; ++j) {
      step[free[static_cast<std::size_t>(j)]] = solved[j];
    }
    const double most = step.cwiseAbs().maxCoeff();
    return most > kMostStep ? VectorXd(step * (kMostStep / most)) : step;
  }

  /// Levenberg-Marquardt from a known point.
  void descend(const VectorXd& start) {
    constexpr double kLeastDamping = 1e-9;
    constexpr double kMostDamping = 1e6;
    constexpr double kStronger = 5;
    constexpr double kWeaker = 0.2;
    VectorXd point = start;
    double damping = 1e-3;
    for (std::size_t iteration = 0; iteration < kMostIterations; ++iteration) {
      const auto jacobian = jacobian_at(point);
      if (!jacobian) {
        break;
      }
      const VectorXd gradient = jacobian->transpose() * values(point);
      const std::vector<Index> free = free_at(point, gradient);
      const double before = cost(point);
      bool gained = false;
      while (!free.empty() && damping <= kMostDamping) {
        const VectorXd step = step_of(*jacobian, values(point), free, damping);
        VectorXd next = point;
        for (const Index i : free) {
          next[i] = snapped(i, std::clamp(to_u(i, point[i]) + step[i], least_u(i), most_u(i)));
        }
        if (step.cwiseAbs().maxCoeff() < kLeastStep || next == point || !evaluate({next})) {
          break;
        }
        if (cost(next) < before) {
          point = next;
          damping = std::max(damping * kWeaker, kLeastDamping);
          gained = true;
          break;
        }
        damping *= kStronger;
      }
      take_if_better(point);
      if (!gained || cost(point) > before * (1 - kLeastGain) || is_exact()) {
        break;
      }
    }
    take_if_better(point);
  }

  /// False if the evaluations do not suffice.
  bool polish() {
    for (std::size_t level = 0; level < kCompassSteps.size() && !is_exact();) {
      std::vector<VectorXd> points;
      for (Index i = 0; i < count(); ++i) {
        points.push_back(moved(best_, i, -kCompassSteps[level]));
        points.push_back(moved(best_, i, kCompassSteps[level]));
      }
      if (!evaluate(points)) {
        return false;
      }
      const double before = cost(best_);
      std::ranges::for_each(points, [this](const VectorXd& point) { take_if_better(point); });
      if (cost(best_) > before * (1 - kLeastGain)) {
        ++level;
      }
    }
    return true;
  }

  /// Searches from the corner opposite to the best point, and takes the better end. Returns the other end, if both
  /// searches ended. `ended`: the search for the best point.
  std::optional<VectorXd> search_again(bool& ended) {
    const VectorXd first = best_;
    VectorXd corner(count());
    for (Index i = 0; i < count(); ++i) {
      const bool is_low = to_u(i, first[i]) < (least_u(i) + most_u(i)) / 2;
      corner[i] = is_low ? variable(i).high : variable(i).low;
    }
    budget_ = std::min(budget_, known_.size() + options_->most_evaluations / kAgainPart);
    if (!ended || !evaluate({corner}) || !std::isfinite(cost(corner))) {
      return std::nullopt;
    }
    best_ = corner;
    descend(corner);
    const bool again_ended = polish();
    const bool is_better = cost(best_) < cost(first) * (1 - kLeastGain);
    const VectorXd other = is_better ? first : best_;
    best_ = is_better ? best_ : first;
    ended = is_better ? again_ended : ended;
    return again_ended ? std::optional(other) : std::nullopt;
  }

  /// The other end, if a variable that changes residuals differs there.
  [[nodiscard]] std::optional<OtherEnd> other_end(const VectorXd& other, const MatrixXd& jacobian) const {
    OtherEnd result{other, cost(other), {}};
    for (Index i = 0; i < count(); ++i) {
      const bool is_far = std::abs(to_u(i, other[i]) - to_u(i, best_[i])) > kDifference &&
                          (!variable(i).whole || std::abs(other[i] - best_[i]) > 1);
      result.differs.push_back(is_far && !jacobian.col(i).isZero(0));
    }
    return std::ranges::count(result.differs, true) > 0 ? std::optional(std::move(result)) : std::nullopt;
  }

  void return_idle(const VectorXd& start) {
    const auto jacobian = jacobian_at(best_);
    if (!jacobian) {
      return;
    }
    VectorXd point = best_;
    for (Index i = 0; i < count(); ++i) {
      if (jacobian->col(i).isZero(0)) {
        point[i] = start[i];
      }
    }
    if (evaluate({point}) && cost(point) <= cost(best_)) {
      best_ = point;
    }
  }

  const Residuals* residuals_;
  std::span<const Variable> variables_;
  const SolverOptions* options_;
  std::size_t budget_ = 0;
  std::map<Key, VectorXd> known_;
  VectorXd best_;
  double least_cost_ = kInfinity;
};

}  // namespace

std::size_t least_evaluations(std::size_t variables) {
  return 1 + 2 * variables;
}

Solution least_squares(const Residuals& residuals, std::span<const Variable> variables, const SolverOptions& options) {
  return Solver(residuals, variables, options).run();
}

}  // namespace rayreplay::calibration
