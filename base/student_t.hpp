// Student's t distribution with a whole number of degrees of freedom.
//
// Contract: `student_t_within(t, df)` = P(|T| ≤ t), t ≥ 0, df ≥ 1, by the finite series of Abramowitz and Stegun,
// Handbook of Mathematical Functions (1964), 26.7.3 and 26.7.4. O(df). `student_t_quantile(share, df)`: the t with
// P(|T| ≤ t) = share, 0 < share < 1, by bisection to the last bit: the factor of the standard error in a two-sided
// confidence interval of `share`. `mean_interval`: mean and half width of that interval, of two values or more.
#pragma once

#include <cstdint>
#include <span>

namespace rayreplay {

[[nodiscard]] double student_t_within(double t, std::uint32_t df);
[[nodiscard]] double student_t_quantile(double share, std::uint32_t df);

struct MeanInterval {
  double mean = 0;
  double half_width = 0;
};
[[nodiscard]] MeanInterval mean_interval(std::span<const double> values, double share);

}  // namespace rayreplay
