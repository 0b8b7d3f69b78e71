// Charts for report pages: lines and bars as SVG inside the page.
//
// Contract: a chart is a figure with title, axes with units, legend and caption. Texts are escaped. Colours come from
// the page's style (light and dark); beyond eight series, dashes distinguish lines of one colour. Points that are not
// finite, and points not above 0 on a logarithmic axis, are left out. The same chart gives the same bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rayreplay::report {

struct ChartPoint {
  double x = 0, y = 0;
};

struct ChartLine {
  std::string name;
  std::size_t color = 0;               ///< equal numbers have the same colour in every chart
  std::vector<ChartPoint> points{};    ///< ascending in x
  std::optional<ChartPoint> marked{};  ///< drawn as a ring
  std::vector<double> spread{};        ///< by point: half the height of a band; empty: none
};

struct LineChart {
  std::string title;
  std::string x_title, y_title;  ///< with units
  std::string caption;
  bool log_x = false;
  bool log_y = false;            ///< from the power of ten below the lowest value; values not above 0 are left out
  bool whole_x = false;          ///< no ticks between whole numbers
  std::optional<double> rule{};  ///< a horizontal line, such as a speed-up of 1
  std::optional<double> y_high{};
  std::vector<ChartLine> lines;
};

/// Groups of bars side by side: `values` of each series by category.
struct BarSeries {
  std::string name;
  std::size_t color = 0;
  std::vector<double> values{};
};

struct BarChart {
  std::string title;
  std::string x_title, y_title;
  std::string caption;
  std::vector<std::string> categories;
  std::vector<BarSeries> series;
};

/// Each category is one horizontal bar of its series in sequence, in colours of their own. All-zero series are not in
/// the legend.
struct StackChart {
  std::string title;
  std::string x_title;
  std::string caption;
  std::vector<std::string> categories;
  std::vector<BarSeries> series;
};

[[nodiscard]] std::string to_svg(const LineChart& chart);
[[nodiscard]] std::string to_svg(const BarChart& chart);
[[nodiscard]] std::string to_svg(const StackChart& chart);

}  // namespace rayreplay::report
