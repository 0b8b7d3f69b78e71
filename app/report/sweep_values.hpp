// How values of a sweep's columns are written for people: in pictures, on pages.
//
// Contract: bytes in KiB, MiB, GiB, other numbers with k, M, G; columns whose values carry their unit name none in
// their title. `parameter_text` keeps every digit that tells the values of a parameter apart ("12", "64 KiB", "10000");
// `Measure` gives all values of one metric the same number of significant digits: three, or as many more as tell its
// least from its greatest.
#pragma once

#include <string>
#include <vector>

#include "app/pictures/plot.hpp"
#include "sim/sweep/results/reader.hpp"

namespace rayreplay::report {

[[nodiscard]] std::string parameter_text(const sweep::ResultColumn& column, double value);

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

/// Round values in [low, high] with one unit for all of them.
[[nodiscard]] std::vector<pictures::PlotTick> value_ticks(const sweep::ResultColumn& column, double low, double high,
                                                          std::size_t most);
/// The same on a logarithmic axis: powers of two of bytes, powers of ten of others.
[[nodiscard]] std::vector<pictures::PlotTick> logarithmic_ticks(const sweep::ResultColumn& column, double low,
                                                                double high, std::size_t most);

/// The number that a cell holds, also as a text ("300"); NaN where it holds none.
[[nodiscard]] double read_number(const sweep::ResultCell& cell);

}  // namespace rayreplay::report
