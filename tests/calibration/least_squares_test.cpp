// Bounded least squares: against normal equations solved by hand, dense searches, and functions with plateaus.
#include "sim/calibration/least_squares.hpp"

#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace rayreplay::calibration {
namespace {

using Eigen::VectorXd;
using One = std::function<VectorXd(const VectorXd& values)>;

/// Point by point.
Residuals each(One one) {
  return [one = std::move(one)](std::span<const VectorXd> points) {
    std::vector<VectorXd> result;
    for (const VectorXd& point : points) {
      result.push_back(one(point));
    }
    return result;
  };
}

VectorXd vector_of(std::vector<double> values) {
  return Eigen::Map<VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

/// The slow twin: the least cost over a dense grid, evenly in u.
double least_of_grid(const One& one, const std::vector<Variable>& variables, int steps) {
  const auto value = [&](std::size_t i, int step) {
    const Variable& variable = variables[i];
    const double low = std::log(variable.low + variable.offset());
    const double high = std::log(variable.high + variable.offset());
    const double at = std::exp(low + (high - low) * step / steps) - variable.offset();
    return std::clamp(variable.whole ? std::round(at) : at, variable.low, variable.high);
  };
  double least = std::numeric_limits<double>::infinity();
  for (int first = 0; first <= steps; ++first) {
    for (int second = 0; second <= (variables.size() > 1 ? steps : 0); ++second) {
      std::vector<double> point = {value(0, first)};
      if (variables.size() > 1) {
        point.push_back(value(1, second));
      }
      least = std::min(least, one(vector_of(point)).squaredNorm());
    }
  }
  return least;
}

// r = A x - b with A = [1 1; 1 2; 1 3], b = (5, 7, 10): the normal equations [3 6; 6 14] x = (22, 49) give
// x = (7/3, 5/2), and the cost 1/6.
TEST(LeastSquares, ALinearProblemHasTheSolutionOfTheNormalEquations) {
  const One line = [](const VectorXd& x) {
    return vector_of({x[0] + x[1] - 5, x[0] + 2 * x[1] - 7, x[0] + 3 * x[1] - 10});
  };
  const std::vector<Variable> variables = {{1, 0.1, 100}, {1, 0.1, 100}};
  const Solution solution = least_squares(each(line), variables);
  EXPECT_NEAR(solution.values[0], 7.0 / 3, 1e-3);
  EXPECT_NEAR(solution.values[1], 2.5, 1e-3);
  EXPECT_NEAR(solution.cost, 1.0 / 6, 1e-6);
  EXPECT_EQ(solution.stop, Stop::Converged);
  EXPECT_NEAR(solution.start_cost, 9 + 16 + 36, 1e-12);
  // Columns by u = ln x: x times those of A; central differences of exp over 5 % are off by 0.05² / 6.
  EXPECT_NEAR(solution.jacobian(2, 1), 3 * 2.5, 0.01);
}

// The same with x1 at most 2: x0 is then the mean of (3, 3, 4), and the gradient by x1 points out.
TEST(LeastSquares, ABoundHolds) {
  const One line = [](const VectorXd& x) {
    return vector_of({x[0] + x[1] - 5, x[0] + 2 * x[1] - 7, x[0] + 3 * x[1] - 10});
  };
  const std::vector<Variable> variables = {{1, 0.1, 100}, {1, 0.1, 2}};
  const Solution solution = least_squares(each(line), variables);
  EXPECT_EQ(solution.values[1], 2);
  EXPECT_NEAR(solution.values[0], 10.0 / 3, 1e-3);
  EXPECT_LT(solution.jacobian.col(1).dot(solution.residuals), 0);
}

TEST(LeastSquares, ExponentialDecayIsFoundFromFarAway) {
  const One decay = [](const VectorXd& x) {
    VectorXd result(8);
    for (int t = 0; t < 8; ++t) {
      result[t] = x[0] * std::exp(-x[1] * t) - 3 * std::exp(-0.4 * t);
    }
    return result;
  };
  const std::vector<Variable> variables = {{100, 0.01, 1000}, {5, 0.01, 10}};
  const Solution solution = least_squares(each(decay), variables);
  EXPECT_NEAR(solution.values[0], 3, 3e-4);
  EXPECT_NEAR(solution.values[1], 0.4, 4e-5);
}

// Two resources: the slower one decides. At the start the second has no influence.
TEST(LeastSquares, AVariableWithoutInfluenceAtTheStartIsFound) {
  const auto time = [](double work, double bytes, double rate, double bandwidth) {
    return std::max(work / rate, bytes / bandwidth);
  };
  const One model = [time](const VectorXd& x) {
    return vector_of({std::log(time(10, 1, x[0], x[1]) / time(10, 1, 2, 0.5)),
                      std::log(time(1, 10, x[0], x[1]) / time(1, 10, 2, 0.5))});
  };
  const std::vector<Variable> variables = {{1, 0.5, 8}, {40, 0.1, 100}};
  const Solution solution = least_squares(each(model), variables);
  EXPECT_NEAR(solution.values[0], 2, 1e-3);
  EXPECT_NEAR(solution.values[1], 0.5, 1e-3);
}

TEST(LeastSquares, WholeVariablesArriveAtTheWholeOptimum) {
  const One model = [](const VectorXd& x) {
    EXPECT_EQ(x[0], std::round(x[0]));
    return vector_of({std::log(std::ceil(1000 / x[0]) / std::ceil(1000.0 / 37)), std::log(x[1] / 7) / 10});
  };
  const std::vector<Variable> variables = {{10, 1, 128, true}, {100, 0, 1000, true}};
  const Solution solution = least_squares(each(model), variables);
  EXPECT_EQ(solution.cost, 0);
  EXPECT_EQ(solution.values[1], 7);
  EXPECT_EQ(solution.stop, Stop::Exact);
}

TEST(LeastSquares, AsGoodAsADenseGridWhereTheFunctionHasPlateaus) {
  // Rounds of 32 units, as warps that fall on SMs: no derivative anywhere.
  const auto rounds = [](double work, double rate) { return std::ceil(work / rate / 4) * 4; };
  const One model = [rounds](const VectorXd& x) {
    return vector_of({std::log(rounds(1000, x[0]) / 300), std::log(rounds(3000, x[0]) / 1100),
                      std::log(rounds(5000, x[1]) / 77), std::log(rounds(1700, x[0] * x[1]) / 9)});
  };
  const std::vector<Variable> both = {{1, 0.5, 10}, {20, 5, 200}};
  EXPECT_LE(least_squares(each(model), both).cost, 1.2 * least_of_grid(model, both, 1500));
  const One first = [&model](const VectorXd& x) { return model(vector_of({x[0], 60})); };
  const std::vector<Variable> alone = {{1, 0.5, 10}};
  EXPECT_LE(least_squares(each(first), alone).cost, 1.05 * least_of_grid(first, alone, 100000));
}

TEST(LeastSquares, PointsWithoutAValueAreAvoided) {
  const One model = [](const VectorXd& x) {
    return x[0] > 3 && x[0] < 3.3 ? VectorXd() : vector_of({std::log(x[0] / 4)});
  };
  const std::vector<Variable> variables = {{3, 1, 10}};
  EXPECT_NEAR(least_squares(each(model), variables).values[0], 4, 4e-4);
  const std::vector<Variable> refused = {{3.1, 1, 10}};
  EXPECT_THROW(static_cast<void>(least_squares(each(model), refused)), Error);
}

TEST(LeastSquares, AVariableThatChangesNothingKeepsItsStart) {
  const One model = [](const VectorXd& x) { return vector_of({std::log(x[0] / 2), std::log(x[0] / 2.2)}); };
  const std::vector<Variable> variables = {{1, 0.5, 8}, {40, 0.1, 100}};
  const Solution solution = least_squares(each(model), variables);
  EXPECT_EQ(solution.values[1], 40);
  EXPECT_TRUE(solution.jacobian.col(1).isZero(0));
  EXPECT_NEAR(solution.values[0], std::sqrt(2 * 2.2), 1e-3);
}

// Two valleys: the cost is ((x - 2)(x - 50) / 50)² and a constant, so that either end is as good.
TEST(LeastSquares, ASecondSearchFindsAnotherMinimum) {
  const One valleys = [](const VectorXd& x) { return vector_of({(x[0] - 2) * (x[0] - 50) / 50, x[1] - 3, 0.5}); };
  const std::vector<Variable> variables = {{2.5, 1, 100}, {3, 1, 10}};
  const Solution solution = least_squares(each(valleys), variables);
  EXPECT_NEAR(solution.cost, 0.25, 1e-4);
  ASSERT_TRUE(solution.other);
  EXPECT_NEAR(solution.other->cost, 0.25, 1e-4);
  const double ends[] = {std::min(solution.values[0], solution.other->values[0]),
                         std::max(solution.values[0], solution.other->values[0])};
  EXPECT_NEAR(ends[0], 2, 0.02);
  EXPECT_NEAR(ends[1], 50, 0.5);
  EXPECT_EQ(solution.other->differs, (std::vector<bool>{true, false}));
}

TEST(LeastSquares, OneMinimumHasNoOtherEnd) {
  const One line = [](const VectorXd& x) {
    return vector_of({x[0] + x[1] - 5, x[0] + 2 * x[1] - 7, x[0] + 3 * x[1] - 10});
  };
  const std::vector<Variable> variables = {{1, 0.1, 100}, {1, 0.1, 100}};
  EXPECT_FALSE(least_squares(each(line), variables).other);
}

TEST(LeastSquares, NoPointTwiceAndNoMoreThanAllowed) {
  for (const std::size_t most : {5U, 6U, 12U, 40U, 200U}) {
    std::set<std::vector<double>> seen;
    std::size_t asked = 0;
    const One model = [&](const VectorXd& x) {
      ++asked;
      EXPECT_TRUE(seen.insert({x.begin(), x.end()}).second);
      return vector_of({x[0] * x[1] - 6, x[0] + x[1] - 5, x[0] - x[1]});
    };
    SolverOptions options;
    options.most_evaluations = most;
    std::size_t told = 0;
    options.on_evaluated = [&told](std::size_t evaluations, double) { told = evaluations; };
    const std::vector<Variable> variables = {{1, 0.1, 100}, {50, 0.1, 100}};
    const Solution solution = least_squares(each(model), variables, options);
    EXPECT_LE(asked, most);
    EXPECT_EQ(asked, solution.evaluations);
    EXPECT_EQ(told, asked);
    EXPECT_LE(solution.cost, solution.start_cost);
    EXPECT_EQ(solution.stop == Stop::Evaluations, most <= 40) << most;
  }
  SolverOptions few;
  few.most_evaluations = 4;
  const std::vector<Variable> two = {{1, 0.1, 100}, {50, 0.1, 100}};
  EXPECT_THROW(static_cast<void>(least_squares(each([](const VectorXd& x) { return x; }), two, few)), Error);
}

TEST(LeastSquares, AStartBeyondABoundIsMovedToIt) {
  std::vector<double> first;
  const One model = [&first](const VectorXd& x) {
    first.push_back(x[0]);
    return vector_of({x[0] - 6});
  };
  const std::vector<Variable> variables = {{1, 4, 100}};
  EXPECT_NEAR(least_squares(each(model), variables).values[0], 6, 1e-3);
  EXPECT_EQ(first.front(), 4);
}

}  // namespace
}  // namespace rayreplay::calibration
