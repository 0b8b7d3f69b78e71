#include "app/report/charts/axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace rayreplay::pictures {

std::vector<double> ticks(double low, double high, std::size_t most) {
  if (!(high > low) || most < 2) {
    return {low};
  }
  const double raw = (high - low) / static_cast<double>(most - 1);
  double unit = std::pow(10.0, std::floor(std::log10(raw)));
  double step = unit * 10;
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (unit * factor >= raw * (1 - 1e-9)) {
      step = unit * factor;
      break;
    }
  }
  std::vector<double> result;
  const auto first = std::llround(std::ceil(low / step - 1e-9));
  const auto last = std::llround(std::floor(high / step + 1e-9));
  for (auto i = first; i <= last; ++i) {
    result.push_back(static_cast<double>(i) * step);
  }
  return result.size() < 2 ? std::vector<double>{low, high} : result;
}

std::string tick_label(double value, double step) {
  if (value == 0) {
    return "0";
  }
  for (const auto& [size, suffix] : {std::pair{1e9, "G"}, std::pair{1e6, "M"}, std::pair{1e4, "k"}}) {
    if (std::abs(value) >= size) {
      const double unit = size == 1e4 ? 1e3 : size;
      const int decimals = step >= unit ? (std::fmod(step, unit) == 0 ? 0 : 1) : step * 10 >= unit ? 1 : 2;
      return fmt::format("{:.{}f}{}", value / unit, decimals, suffix);
    }
  }
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
  // Steps of 2.5·10ⁿ need one decimal more than their magnitude.
  const double scaled = step * std::pow(10.0, decimals);
  const bool half = std::abs(scaled - std::round(scaled)) > 1e-6;
  return fmt::format("{:.{}f}", value, decimals + (half ? 1 : 0));
}

Unit unit_of(double value, bool bytes) {
  constexpr std::array kBytes = {Unit{0x1p40, " TiB"}, Unit{0x1p30, " GiB"}, Unit{0x1p20, " MiB"},
                                 Unit{0x1p10, " KiB"}};
  constexpr std::array kOthers = {Unit{1e12, "T"}, Unit{1e9, "G"}, Unit{1e6, "M"}, Unit{1e3, "k"}};
  for (const Unit& unit : bytes ? kBytes : kOthers) {
    if (std::abs(value) >= unit.size) {
      return unit;
    }
  }
  return {1, bytes ? " B" : ""};
}

std::vector<PlotTick> value_ticks(bool bytes, double low, double high, std::size_t most) {
  const Unit unit = unit_of(std::max(std::abs(low), std::abs(high)), bytes);
  const std::vector<double> values = ticks(low / unit.size, high / unit.size, most);
  const double step = values.size() > 1 ? values[1] - values[0] : 1;
  std::vector<PlotTick> result;
  result.reserve(values.size());
  for (const double value : values) {
    result.push_back({value * unit.size, value == 0 ? "0" : tick_label(value, step) + unit.name});
  }
  return result;
}

std::vector<PlotTick> logarithmic_ticks(bool bytes, double low, double high, std::size_t most) {
  const double base = bytes ? 2 : 10;
  const auto first = static_cast<int>(std::ceil(std::log(low) / std::log(base) - 1e-9));
  const auto last = static_cast<int>(std::floor(std::log(high) / std::log(base) + 1e-9));
  const int step = std::max(1, (last - first + static_cast<int>(most)) / std::max(static_cast<int>(most), 1));
  std::vector<PlotTick> result;
  for (int exponent = first; exponent <= last; exponent += step) {
    const double value = std::pow(base, exponent);
    const Unit unit = unit_of(value, bytes);
    result.push_back({value, fmt::format("{:g}{}", value / unit.size, unit.name)});
  }
  return result;
}

double rounded_up(double value) {
  if (!(value > 0)) {
    return 1;
  }
  const double decade = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (value <= step * decade * (1 + 1e-9)) {
      return step * decade;
    }
  }
  return 10 * decade;
}

}  // namespace rayreplay::pictures
