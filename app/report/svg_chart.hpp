// Charts for report pages: lines and bars as SVG inside the page.
//
// Contract: a chart is a figure with title, axes with units, legend and caption; texts are escaped; colours come from
// the page's style (light and dark) and, beyond eight series, dashes tell lines of one colour apart. Points that are
// not finite, and points not above 0 on a logarithmic axis, are left out. The same chart gives the same bytes.
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
  std::size_t color = 0;               ///< the same number, the same colour in every chart
  std::vector<ChartPoint> points{};    ///< ascending in x
  std::optional<ChartPoint> marked{};  ///< drawn as a ring
  std::vector<double> spread{};        ///< by point: a band reaches so far above and below; empty: none
};

struct LineChart {
  std::string title;
  std::string x_title, y_title;  ///< with units
  std::string caption;
  bool log_x = false;
  bool log_y = false;            ///< from the power of ten below the lowest value; what is not above 0 is left out
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

/// Each category one horizontal bar, its series one after another, in colours of their own. A series of nothing but
/// zeros is not in the legend.
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
