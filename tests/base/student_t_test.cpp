// Student's t against published quantiles (tables of the two-sided 95 and 99 % points), closed forms and integration.
#include "base/student_t.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

namespace rayreplay {
namespace {

TEST(StudentT, QuantilesAreThePublishedOnes) {
  struct Row {
    std::uint32_t df;
    double at_95, at_99;
  };
  constexpr std::array<Row, 7> kRows{{{1, 12.706, 63.657},
                                      {2, 4.303, 9.925},
                                      {3, 3.182, 5.841},
                                      {7, 2.365, 3.499},
                                      {9, 2.262, 3.250},
                                      {30, 2.042, 2.750},
                                      {1000, 1.962, 2.581}}};
  for (const Row& row : kRows) {
    EXPECT_NEAR(student_t_quantile(0.95, row.df), row.at_95, 0.0005) << row.df;
    EXPECT_NEAR(student_t_quantile(0.99, row.df), row.at_99, 0.0005) << row.df;
  }
}

TEST(StudentT, OneAndTwoDegreesHaveClosedForms) {
  for (const double t : {0.0, 0.25, 1.0, 3.5, 80.0}) {
    EXPECT_NEAR(student_t_within(t, 1), 2 / std::numbers::pi * std::atan(t), 1e-14);
    EXPECT_NEAR(student_t_within(t, 2), t / std::sqrt(2 + t * t), 1e-14);
  }
}

/// The density, integrated by Simpson's rule: another way to the same number.
double integrated(double t, double df) {
  const double log_factor = std::lgamma((df + 1) / 2) - std::lgamma(df / 2) - std::log(df * std::numbers::pi) / 2;
  const auto density = [&](double x) { return std::exp(log_factor - (df + 1) / 2 * std::log1p(x * x / df)); };
  constexpr int kSteps = 2000;
  const double h = t / kSteps;
  double sum = density(0) + density(t);
  for (int i = 1; i < kSteps; ++i) {
    sum += density(i * h) * (i % 2 == 1 ? 4 : 2);
  }
  return 2 * sum * h / 3;
}

TEST(StudentT, TheSeriesIsTheIntegralOfTheDensity) {
  for (std::uint32_t df = 1; df <= 40; ++df) {
    for (const double t : {0.3, 1.0, 2.5}) {
      EXPECT_NEAR(student_t_within(t, df), integrated(t, df), 1e-9) << df << ' ' << t;
    }
  }
}

TEST(StudentT, IntervalOfAMean) {
  // 1, 2, 3: mean 2, standard error 1 / sqrt(3), two degrees of freedom: t = 0.95 · sqrt(2 / (1 − 0.95²)).
  const std::array<double, 3> values{1, 2, 3};
  const MeanInterval found = mean_interval(values, 0.95);
  EXPECT_DOUBLE_EQ(found.mean, 2);
  EXPECT_NEAR(found.half_width, 0.95 * std::sqrt(2 / (1 - 0.95 * 0.95)) / std::sqrt(3.0), 1e-12);
  const std::array<double, 2> equal{5, 5};
  EXPECT_EQ(mean_interval(equal, 0.95).half_width, 0);
}

}  // namespace
}  // namespace rayreplay
