// Plots with axes: lines and points, and a map over two parameters, drawn on any canvas.
//
// Contract: an axis has a title with its unit, a range, and ticks with labels. Values outside the range and values that
// are not finite are left out. `draw` fills a canvas of `size_of` points. Labels never overlap: if there are too many,
// only every n-th is drawn; names, which a reader cannot interpolate, are rotated instead. The same plot gives the same
// picture. `with_title` off: title and note are shown elsewhere, such as on a page.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/report/charts/canvas.hpp"
#include "app/report/charts/colormap.hpp"

namespace rayreplay::pictures {

struct PlotTick {
  double value = 0;
  std::string label;
};

struct PlotAxis {
  std::string title;
  double low = 0, high = 1;
  bool logarithmic = false;
  std::vector<PlotTick> ticks{};
  bool names = false;  ///< ticks are names
};

struct PlotSeries {
  std::string name;  ///< "": not in the legend
  std::size_t color = 0;
  std::vector<PlotPoint> points{};
  bool line = true;
  bool dots = true;
  bool faint = false;
  std::vector<std::string> titles{};  ///< by point: tooltip
};

struct Plot {
  std::string title;
  std::string note;
  PlotAxis x, y;
  std::vector<PlotSeries> series;
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

struct PlotSize {
  double width = 0, height = 0;
};

[[nodiscard]] PlotSize size_of(const Plot& plot, const Canvas& measure, bool with_title);
[[nodiscard]] PlotSize size_of(const GridPlot& plot, const Canvas& measure, bool with_title);
void draw(const Plot& plot, Canvas& canvas, bool with_title);
void draw(const GridPlot& plot, Canvas& canvas, bool with_title);

[[nodiscard]] Image render(const Plot& plot);
[[nodiscard]] Image render(const GridPlot& plot);

}  // namespace rayreplay::pictures
