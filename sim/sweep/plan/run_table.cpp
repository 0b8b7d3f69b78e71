#include "sim/sweep/plan/run_table.hpp"

#include <algorithm>
#include <cmath>

#include "sim/sweep/definition/axis_values.hpp"

namespace rayreplay::sweep {

Space space_of(const Definition& definition) {
  Space space;
  for (const Factor& factor : definition.factors) {
    const std::optional<Range>& range = factor.axes.front().range;
    space.sizes.push_back(range ? 0 : factor.size());
    space.wholes.push_back(range && range->whole ? static_cast<std::uint64_t>(range->high - range->low) + 1 : 0);
  }
  space.value = [&definition](std::size_t factor, double share) {
    return number_at(*definition.factors[factor].axes.front().range, share);
  };
  return space;
}

double number_at(const Range& range, double share) {
  // The whole number n has the interval [n, n + 1).
  const double high = range.whole ? range.high + 1 : range.high;
  const double value =
      range.logarithmic ? range.low * std::pow(high / range.low, share) : range.low + share * (high - range.low);
  if (range.whole) {
    return std::clamp(std::floor(value), range.low, range.high);
  }
  return std::clamp(rounded(value), range.low, range.high);
}

ParameterValue value_at(const Axis& axis, std::size_t factor, const Row& row) {
  if (!axis.range) {
    return axis.values[row.choice[factor]];
  }
  const double number = row.number[factor];
  return axis.range->whole ? ParameterValue(static_cast<std::int64_t>(number)) : ParameterValue(number);
}

experiment::Settings settings_of(const Definition& definition, const Row& row) {
  experiment::Settings settings = definition.base;
  for (std::size_t f = 0; f < definition.factors.size(); ++f) {
    for (const Axis& axis : definition.factors[f].axes) {
      settings.set(axis.key, value_at(axis, f, row), axis.where);
    }
  }
  return settings;
}

}  // namespace rayreplay::sweep
