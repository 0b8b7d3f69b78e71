#include "app/report/sweep/sweep_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "app/report/charts/axis.hpp"

namespace rayreplay::report {

using pictures::Unit;
using pictures::unit_of;
using sweep::ResultColumn;

bool is_bytes(const ResultColumn& column) {
  return column.unit == "bytes";
}

std::string parameter_text(const ResultColumn& column, double value) {
  if (is_bytes(column) && std::abs(value) >= 1024) {
    const Unit unit = unit_of(value, true);
    const bool exact = std::fmod(value / unit.size * 4, 1) == 0;
    return exact ? fmt::format("{:g}{}", value / unit.size, unit.name)
                 : fmt::format("{:.3g}{}", value / unit.size, unit.name);
  }
  constexpr double kManyDigits = 1e7;
  if (value == std::floor(value) && std::abs(value) < kManyDigits) {
    return fmt::format("{:.0f}", value);
  }
  const Unit unit = unit_of(value, false);
  return fmt::format("{:.4g}{}", value / unit.size, unit.name);
}

std::string column_title(const ResultColumn& column) {
  return column.unit.empty() || is_bytes(column) ? column.name : column.name + " (" + column.unit + ")";
}

Measure::Measure(const ResultColumn& column, double low, double high)
    : bytes_(is_bytes(column)), counts_(column.type == sweep::ColumnType::Whole) {
  constexpr int kMaxDigits = 6;
  const double greatest = std::max(std::abs(low), std::abs(high));
  if (greatest > 0 && high > low) {
    // 3 digits if the values span a tenth of the largest or more, one more for each further factor of ten.
    digits_ = std::clamp(2 + static_cast<int>(std::ceil(-std::log10((high - low) / greatest))), 3, kMaxDigits);
  }
}

std::string Measure::text(double value) const {
  if (!std::isfinite(value)) {
    return "-";
  }
  if (value == 0) {
    return "0";
  }
  // Rounds first: 999,999 is a million.
  const double shown = bytes_ ? value : std::stod(fmt::format("{:.{}e}", value, digits_ - 1));
  const Unit unit = unit_of(shown, bytes_);
  if (unit.size == 1 && (counts_ || bytes_) && value == std::floor(value)) {
    return fmt::format("{:.0f}{}", value, unit.name);
  }
  const double scaled = shown / unit.size;
  const int whole_digits = std::abs(scaled) < 1 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(scaled)))) + 1;
  const int decimals = std::max(digits_ - whole_digits, 0);
  constexpr double kSmall = 0.01;
  return std::abs(scaled) < kSmall ? fmt::format("{:.{}g}{}", scaled, digits_, unit.name)
                                   : fmt::format("{:.{}f}{}", scaled, decimals, unit.name);
}

double read_number(const sweep::ResultCell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) {
    return std::holds_alternative<bool>(cell) ? std::numeric_limits<double>::quiet_NaN() : sweep::number(cell);
  }
  double value = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  const bool whole = error == std::errc() && rest == end && std::isfinite(value);
  return whole ? value : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace rayreplay::report
