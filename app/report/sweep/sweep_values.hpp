// Values of a sweep's columns as text, for plots and pages.
//
// Contract: bytes in KiB, MiB, GiB, other numbers with k, M, G. Columns whose values include a unit have none in their
// title. `parameter_text` has every digit needed to distinguish the values of a parameter ("12", "64 KiB", "10000").
// `Measure` gives all values of one metric the same number of significant digits: three, or as many as distinguish its
// smallest from its largest.
#pragma once

#include <string>

#include "sim/sweep/results/reader.hpp"

namespace rayreplay::report {

[[nodiscard]] std::string parameter_text(const sweep::ResultColumn& column, double value);

/// For ticks and units (charts/axis.hpp).
[[nodiscard]] bool is_bytes(const sweep::ResultColumn& column);

/// "cache.l1.bytes", "machine.sms (SMs)".
[[nodiscard]] std::string column_title(const sweep::ResultColumn& column);

class Measure {
 public:
  /// For values in [low, high].
  Measure(const sweep::ResultColumn& column, double low, double high);
  [[nodiscard]] std::string text(double value) const;

 private:
  bool bytes_ = false;
  bool counts_ = false;
  int digits_ = 3;
};

/// The number in a cell, also from a text ("300"); NaN for others.
[[nodiscard]] double read_number(const sweep::ResultCell& cell);

}  // namespace rayreplay::report
