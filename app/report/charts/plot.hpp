// Charts: lines and points, a map over two parameters, and bars, drawn on any canvas.
//
// Contract: an axis has a title with its unit, a range, and ticks with labels. Values outside the range and values that
// are not finite are left out. `draw` fills a canvas of `size_of` points. Labels never overlap: if there are too many,
// only every n-th is drawn; names, which a reader cannot interpolate, are rotated instead. A label of a point
// that finds no free place beside its dot is left out; the tooltip has it. The same plot gives the same
// picture. `with_title` off: title and note are shown elsewhere, such as on a page.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/report/charts/axis.hpp"
#include "app/report/charts/canvas.hpp"
#include "app/report/charts/colormap.hpp"

namespace rayreplay::pictures {

struct PlotSeries {
  std::string name;  ///< "": not in the legend
  std::size_t color = 0;
  std::vector<PlotPoint> points{};
  bool line = true;
  bool dots = true;
  bool faint = false;
  std::vector<std::string> titles{};  ///< by point: tooltip
  std::vector<double> spread{};       ///< by point: half the height of a band; empty: none
  std::optional<PlotPoint> ring{};    ///< a marked point
  std::vector<std::string> labels{};  ///< by point: text beside the dot, where there is room for it
};

struct Plot {
  std::string title{};
  std::string note{};
  PlotAxis x{}, y{};
  std::vector<PlotSeries> series{};
  std::optional<double> rule{};  ///< a horizontal line, such as a speed-up of 1
};

/// The choice of ranges and ticks by `fit_axes`.
struct AxisFit {
  bool whole_x = false;  ///< no ticks between whole numbers
  std::optional<double> high_y{};
  double margin = 0;  ///< part of an axis that stays free beyond the points, on both sides
};

/// Ranges and ticks from the series, linear or logarithmic as the axes say: x over all points; y from 0, or from the
/// power of ten below the lowest value, to `high_y` or the next round number. Points that are not finite, and points
/// not above 0 on a logarithmic axis, do not count, and are not drawn.
void fit_axes(Plot& plot, const AxisFit& fit = {});

/// Bars by category: side by side, or `stacked`, each category one horizontal bar of its series in sequence. Axes fit
/// themselves.
struct BarPlot {
  struct Series {
    std::string name;
    std::size_t color = 0;
    std::vector<double> values{};  ///< by category
  };
  std::string title{};
  std::string note{};
  std::string category_title{}, value_title{};
  std::vector<std::string> categories{};
  std::vector<Series> series{};
  bool stacked = false;
};

/// One value for each pair of levels; NaN: none.
struct GridPlot {
  std::string title;
  std::string note;
  std::string x_title, y_title;
  std::vector<std::string> x_labels, y_labels;
  bool x_names = false;              ///< labels of x are names
  std::vector<double> values;        ///< y · x_labels.size() + x; y 0 is the bottom row
  std::vector<std::string> writing;  ///< by value: text in its cell, if there is room
  std::vector<std::string> exact;    ///< by value: tooltip
  std::string unit;                  ///< name and unit of the values, along the colour bar
  double low = 0, high = 1;
  std::vector<PlotTick> ticks;  ///< of the colour bar
  Colormap colormap = Colormap::Viridis;
};

using Chart = std::variant<Plot, GridPlot, BarPlot>;

struct PlotSize {
  double width = 0, height = 0;
};

[[nodiscard]] PlotSize size_of(const Chart& chart, const Canvas& measure, bool with_title);
void draw(const Chart& chart, Canvas& canvas, bool with_title);
[[nodiscard]] Image render(const Chart& chart);

}  // namespace rayreplay::pictures
