// Axes of charts: round ticks, and numbers as short labels.
//
// Contract: every tick and every scaled number of charts and pictures is made here. Units of bytes are KiB to TiB, of
// other numbers k to T.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rayreplay::pictures {

/// Round values inside [low, high], at most `most` of them (at least two unless the range is empty).
[[nodiscard]] std::vector<double> ticks(double low, double high, std::size_t most);
/// "0", "0.25", "1500", "20k": `step` is the distance of neighbouring ticks.
[[nodiscard]] std::string tick_label(double value, double step);

struct Unit {
  double size = 1;
  const char* name = "";
};
/// The largest unit that `value` reaches.
[[nodiscard]] Unit unit_of(double value, bool bytes);

struct PlotTick {
  double value = 0;
  std::string label;
};

struct PlotAxis {
  std::string title{};
  double low = 0, high = 1;
  bool logarithmic = false;
  std::vector<PlotTick> ticks{};
  bool names = false;  ///< ticks are names, which a reader cannot interpolate
};

/// Round ticks in [low, high] with a common unit.
[[nodiscard]] std::vector<PlotTick> value_ticks(bool bytes, double low, double high, std::size_t most);
/// The same on a logarithmic axis: powers of two for bytes, powers of ten for others.
[[nodiscard]] std::vector<PlotTick> logarithmic_ticks(bool bytes, double low, double high, std::size_t most);

/// The next round number above.
[[nodiscard]] double rounded_up(double value);

}  // namespace rayreplay::pictures
