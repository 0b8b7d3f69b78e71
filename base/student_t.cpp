#include "base/student_t.hpp"

#include <cmath>
#include <numbers>

namespace rayreplay {

double student_t_within(double t, std::uint32_t df) {
  const double angle = std::atan2(t, std::sqrt(static_cast<double>(df)));
  const double cosine = std::cos(angle);
  const double square = cosine * cosine;
  // The series' terms, each from the one before: even powers of the cosine for an even df, odd ones for an odd df.
  const bool odd = df % 2 == 1;
  double sum = 0;
  double term = odd ? cosine : 1;
  for (std::uint32_t power = odd ? 1 : 0; power + 2 <= df; power += 2) {
    sum += term;
    term *= square * (power + 1) / (power + 2);
  }
  return odd ? (angle + std::sin(angle) * sum) * 2 / std::numbers::pi : std::sin(angle) * sum;
}

double student_t_quantile(double share, std::uint32_t df) {
  double low = 0;
  double high = 1;
  while (student_t_within(high, df) < share && high < 1e300) {
    high *= 2;
  }
  for (double middle = high / 2; middle > low && middle < high; middle = low + (high - low) / 2) {
    (student_t_within(middle, df) < share ? low : high) = middle;
  }
  return high;
}

MeanInterval mean_interval(std::span<const double> values, double share) {
  const double count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) {
    mean += value / count;
  }
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  const double error = std::sqrt(squares / (count - 1) / count);
  return {mean, error == 0 ? 0 : student_t_quantile(share, static_cast<std::uint32_t>(values.size() - 1)) * error};
}

}  // namespace rayreplay
