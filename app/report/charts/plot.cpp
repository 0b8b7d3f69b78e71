#include "app/report/charts/plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/shortened.hpp"

namespace rayreplay::pictures {
namespace {

constexpr double kWidth = 700;
constexpr double kPlotHeight = 300;
constexpr double kBarRow = 30;  // of a stacked bar
constexpr std::size_t kMaxTicks = 7;
constexpr double kMargin = 16;
constexpr double kLine = 18;  // of text
constexpr double kGap = 8;
constexpr double kSwatch = 10;
constexpr double kBarWidth = 16;
constexpr std::size_t kBarSteps = 128;

double widest(const std::vector<PlotTick>& ticks, const Canvas& canvas) {
  double width = 0;
  for (const PlotTick& tick : ticks) {
    width = std::max(width, canvas.text_width(tick.label));
  }
  return width;
}

double widest(const std::vector<std::string>& labels, const Canvas& canvas) {
  double width = 0;
  for (const std::string& label : labels) {
    width = std::max(width, canvas.text_width(label));
  }
  return width;
}

double title_height(const std::string& note, bool with_title) {
  return with_title ? kLine + (note.empty() ? 0 : kLine) + kGap : 0;
}

void draw_title(const std::string& title, const std::string& note, Canvas& canvas) {
  canvas.text({kMargin, kMargin + 10}, Anchor::Start, title, Ink::Strong);
  canvas.text({kMargin, kMargin + 10 + kLine}, Anchor::Start, note, Ink::Soft);
}

double place(const PlotAxis& axis, double value, double from, double to) {
  const double share = axis.logarithmic ? std::log(value / axis.low) / std::log(axis.high / axis.low)
                                        : (value - axis.low) / (axis.high - axis.low);
  return from + share * (to - from);
}

bool shows(const PlotAxis& axis, double value) {
  return std::isfinite(value) && value >= axis.low && value <= axis.high;
}

/// Step between drawn labels, so that none overlap.
std::size_t stride(std::size_t count, double room, double each) {
  const double fit = std::max(room / std::max(each, 1.0), 1.0);
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(static_cast<double>(count) / fit)));
}

struct Frame {
  double left = 0, right = 0, top = 0, bottom = 0;
  double labels = kLine;  // height of the labels of x
  bool upright = false;
};

/// Layout of the labels of x: `count` labels, and the width of the widest.
void stand_labels(Frame& frame, std::size_t count, double width, bool names) {
  const double room = frame.right - frame.left;
  frame.upright = names && stride(count, room, width + kGap) > 1 && stride(count, room, kLine - 4) == 1;
  frame.labels = frame.upright ? width + kGap : kLine;
}

void draw_label(const Frame& frame, double x, const std::string& label, Canvas& canvas) {
  if (frame.upright) {
    canvas.upward_text({x + 4, frame.bottom + kGap}, Anchor::End, label, Ink::Soft);
  } else {
    canvas.text({x, frame.bottom + kLine}, Anchor::Middle, label, Ink::Soft);
  }
}

/// Rows of the legend; draws it if `canvas` is given.
std::size_t legend(const Plot& plot, const Canvas& measure, double left, double right, double top, Canvas* canvas) {
  double x = left;
  std::size_t rows = 0;
  for (const PlotSeries& series : plot.series) {
    if (series.name.empty()) {
      continue;
    }
    const double width = kSwatch + 6 + measure.text_width(series.name) + 16;
    if (rows == 0 || x + width > right) {
      ++rows;
      x = left;
    }
    if (canvas != nullptr) {
      const double y = top + static_cast<double>(rows - 1) * kLine;
      canvas->bar({x, y}, kSwatch, kSwatch, series.color, "");
      canvas->text({x + kSwatch + 6, y + kSwatch - 1}, Anchor::Start, series.name, Ink::Soft);
    }
    x += width;
  }
  return rows;
}

Frame frame_of(const Plot& plot, const Canvas& measure, bool with_title) {
  Frame frame;
  frame.left = kMargin + kLine + widest(plot.y.ticks, measure) + kGap;
  frame.right = kWidth - kMargin - 12;
  frame.top = kMargin + title_height(plot.note, with_title);
  frame.bottom = frame.top + (plot.y.names ? kBarRow * static_cast<double>(plot.y.ticks.size()) : kPlotHeight);
  stand_labels(frame, plot.x.ticks.size(), widest(plot.x.ticks, measure), plot.x.names);
  return frame;
}

void draw_axes(const Plot& plot, const Frame& frame, Canvas& canvas) {
  const std::size_t every_y = stride(plot.y.ticks.size(), frame.bottom - frame.top, kLine);
  for (std::size_t i = 0; i < plot.y.ticks.size(); i += every_y) {
    const PlotTick& tick = plot.y.ticks[i];
    if (shows(plot.y, tick.value)) {
      const double y = place(plot.y, tick.value, frame.bottom, frame.top);
      if (!plot.y.names) {
        canvas.line({frame.left, y}, {frame.right, y}, Ink::Grid);
      }
      canvas.text({frame.left - kGap, y + 4}, Anchor::End, tick.label, Ink::Soft);
    }
  }
  const std::size_t every_x =
      frame.upright ? 1 : stride(plot.x.ticks.size(), frame.right - frame.left, widest(plot.x.ticks, canvas) + 12);
  for (std::size_t i = 0; i < plot.x.ticks.size(); i += every_x) {
    const PlotTick& tick = plot.x.ticks[i];
    if (shows(plot.x, tick.value)) {
      const double x = place(plot.x, tick.value, frame.left, frame.right);
      if (plot.y.names) {
        canvas.line({x, frame.top}, {x, frame.bottom}, Ink::Grid);
      }
      canvas.line({x, frame.bottom}, {x, frame.bottom + 5}, Ink::Soft);
      draw_label(frame, x, tick.label, canvas);
    }
  }
  canvas.line({frame.left, frame.bottom}, {frame.right, frame.bottom}, Ink::Soft);
  canvas.line({frame.left, frame.top}, {frame.left, frame.bottom}, Ink::Soft);
  canvas.text({(frame.left + frame.right) / 2, frame.bottom + frame.labels + kLine + 2}, Anchor::Middle, plot.x.title,
              Ink::Strong);
  canvas.upward_text({kMargin + 6, (frame.top + frame.bottom) / 2}, Anchor::Middle, plot.y.title, Ink::Strong);
}

struct GridFrame {
  Frame map;
  double bar_left = 0;
  double name = 0;  // names of the values, reading upwards
};

GridFrame frame_of(const GridPlot& plot, const Canvas& measure, bool with_title) {
  constexpr double kMinCell = 22, kMaxCell = 60;
  GridFrame frame;
  const auto rows = static_cast<double>(std::max<std::size_t>(plot.y_labels.size(), 1));
  const auto columns = static_cast<double>(std::max<std::size_t>(plot.x_labels.size(), 1));
  const double bar =
      kGap * 3 + kBarWidth + kGap + widest(plot.ticks, measure) + kMargin + (plot.unit.empty() ? 0 : kLine);
  frame.map.left = kMargin + kLine + widest(plot.y_labels, measure) + kGap;
  const double width = std::min(kWidth - bar - frame.map.left, columns * 110);
  frame.map.right = frame.map.left + width;
  frame.map.top = kMargin + title_height(plot.note, with_title);
  const double cell = std::clamp(width / columns * 0.6, kMinCell, kMaxCell);
  // Names beside the map need space for their length.
  const double least = std::max({140.0, measure.text_width(plot.unit), measure.text_width(plot.y_title)});
  frame.map.bottom = frame.map.top + std::clamp(cell * rows, least, std::max(least, 480.0));
  stand_labels(frame.map, plot.x_labels.size(), widest(plot.x_labels, measure), plot.x_names);
  frame.bar_left = frame.map.right + kGap * 3;
  frame.name = frame.bar_left + kBarWidth + kGap + widest(plot.ticks, measure) + kLine;
  return frame;
}

bool has_gaps(const GridPlot& plot) {
  return std::ranges::any_of(plot.values, [](double value) { return !std::isfinite(value); });
}

double brightness(Rgb color) {
  return 0.299 * color.r + 0.587 * color.g + 0.114 * color.b;
}

void draw_cells(const GridPlot& plot, const Frame& map, Canvas& canvas) {
  const std::size_t columns = plot.x_labels.size();
  const double width = (map.right - map.left) / static_cast<double>(columns);
  const double height = (map.bottom - map.top) / static_cast<double>(plot.y_labels.size());
  const double range = plot.high > plot.low ? plot.high - plot.low : 1;
  const bool written = widest(plot.writing, canvas) + 4 <= width && kLine <= height;
  for (std::size_t i = 0; i < plot.values.size(); ++i) {
    const std::size_t column = i % columns, row = i / columns;
    const PlotPoint corner{map.left + static_cast<double>(column) * width,
                           map.bottom - static_cast<double>(row + 1) * height};
    const bool finite = std::isfinite(plot.values[i]);
    const Rgb color = color_at(plot.colormap, (plot.values[i] - plot.low) / range);
    const std::string writing = i < plot.writing.size() ? plot.writing[i] : "";
    const std::string exact = i < plot.exact.size() ? plot.exact[i] : writing;
    canvas.cell(corner, width, height, color,
                plot.x_labels[column] + ", " + plot.y_labels[row] + ": " + (finite ? exact : "no data"));
    if (written && finite) {
      canvas.text({corner.x + width / 2, corner.y + height / 2 + 4}, Anchor::Middle, writing,
                  brightness(color) > 128 ? Ink::Dark : Ink::Light);
    }
  }
}

void draw_bar(const GridPlot& plot, const GridFrame& frame, Canvas& canvas) {
  const Frame& map = frame.map;
  const double height = map.bottom - map.top, step = height / kBarSteps;
  for (std::size_t i = 0; i < kBarSteps; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / kBarSteps;
    canvas.cell({frame.bar_left, map.bottom - static_cast<double>(i + 1) * step}, kBarWidth, step + 0.3,
                color_at(plot.colormap, share), "");
  }
  const PlotAxis axis{"", plot.low, plot.high > plot.low ? plot.high : plot.low + 1};
  for (const PlotTick& tick : plot.ticks) {
    if (shows(axis, tick.value)) {
      const double y = place(axis, tick.value, map.bottom, map.top);
      canvas.line({frame.bar_left + kBarWidth, y}, {frame.bar_left + kBarWidth + 4, y}, Ink::Soft);
      canvas.text({frame.bar_left + kBarWidth + kGap, y + 4}, Anchor::Start, tick.label, Ink::Soft);
    }
  }
}

/// Labels of points, above or below them so that a line through a point does not cross its label. Each lies in the
/// frame, and on no dot or label that is there before; one without such a place is left out.
class PointLabels {
 public:
  PointLabels(const Frame& frame, Canvas& canvas) : frame_(frame), canvas_(canvas) {}

  /// Dots come before all labels, so that no label hides one.
  void keep_clear(const PlotPoint& dot) {
    taken_.push_back({dot.x - kDotRoom, dot.x + kDotRoom, dot.y - kDotRoom, dot.y + kDotRoom});
  }

  void add(const PlotPoint& dot, const std::string& label) {
    const double width = canvas_.text_width(label);
    for (const bool right : {true, false}) {
      for (const double down : {-10.0, -10 - kLine, -10 - 2 * kLine, 14.0, 14 + kLine, 14 + 2 * kLine}) {
        const double left = right ? dot.x + kGap : dot.x - kGap - width;
        const double base = dot.y + 4 + down;
        const Box box{left, left + width, base - kLetter, base + 3};
        if (box.left < frame_.left + 2 || box.right > frame_.right || box.top < frame_.top ||
            box.bottom > frame_.bottom ||
            std::ranges::any_of(taken_, [&](const Box& other) { return meet(box, other); })) {
          continue;
        }
        taken_.push_back(box);
        canvas_.text({right ? dot.x + kGap : dot.x - kGap, base}, right ? Anchor::Start : Anchor::End, label,
                     Ink::Strong);
        return;
      }
    }
  }

 private:
  struct Box {
    double left = 0, right = 0, top = 0, bottom = 0;
  };
  static constexpr double kDotRoom = 3.5, kLetter = 11;
  static bool meet(const Box& a, const Box& b) {
    return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  }

  const Frame& frame_;
  Canvas& canvas_;
  std::vector<Box> taken_;
};

PlotSize measured(const Plot& plot, const Canvas& measure, bool with_title) {
  const Frame frame = frame_of(plot, measure, with_title);
  const std::size_t rows = legend(plot, measure, frame.left, frame.right, 0, nullptr);
  return {kWidth, frame.bottom + frame.labels + kLine + kMargin + static_cast<double>(rows) * kLine};
}

PlotSize measured(const GridPlot& plot, const Canvas& measure, bool with_title) {
  const GridFrame frame = frame_of(plot, measure, with_title);
  return {kWidth, frame.map.bottom + frame.map.labels + kLine + kMargin + (has_gaps(plot) ? kLine : 0)};
}

void paint(const Plot& plot, Canvas& canvas, bool with_title) {
  if (with_title) {
    draw_title(plot.title, plot.note, canvas);
  }
  const Frame frame = frame_of(plot, canvas, with_title);
  draw_axes(plot, frame, canvas);
  const auto is_shown = [&plot](const PlotPoint& point) { return shows(plot.x, point.x) && shows(plot.y, point.y); };
  const auto at = [&](const PlotPoint& point) {
    return PlotPoint{place(plot.x, point.x, frame.left, frame.right), place(plot.y, point.y, frame.bottom, frame.top)};
  };
  if (plot.rule) {
    const double y = place(plot.y, *plot.rule, frame.bottom, frame.top);
    canvas.line({frame.left, y}, {frame.right, y}, Ink::Rule);
  }
  for (const PlotSeries& series : plot.series) {
    std::vector<PlotPoint> upper, lower;
    for (std::size_t i = 0; i < std::min(series.points.size(), series.spread.size()); ++i) {
      const auto& [x, y] = series.points[i];
      if (is_shown({x, y}) && std::isfinite(series.spread[i])) {
        upper.push_back(at({x, std::min(y + series.spread[i], plot.y.high)}));
        lower.push_back(at({x, std::max(y - series.spread[i], plot.y.low)}));
      }
    }
    if (!upper.empty()) {
      canvas.band(upper, lower, series.color);
    }
  }
  for (const PlotSeries& series : plot.series) {
    std::vector<PlotPoint> way;
    for (const PlotPoint& point : series.points) {
      if (is_shown(point)) {
        way.push_back(at(point));
      }
    }
    if (series.line && way.size() > 1) {
      canvas.polyline(way, series.color, series.name);
    }
  }
  constexpr double kDot = 3, kFaintDot = 2.5, kRing = 6;
  for (const PlotSeries& series : plot.series) {
    for (std::size_t i = 0; series.dots && i < series.points.size(); ++i) {
      const PlotPoint& point = series.points[i];
      if (is_shown(point)) {
        canvas.dot(at(point), series.faint ? kFaintDot : kDot, series.color, series.faint,
                   i < series.titles.size() ? series.titles[i] : series.name);
      }
    }
    if (series.ring && is_shown(*series.ring)) {
      canvas.ring(at(*series.ring), kRing, series.color, fmt::format("{}: {:.0f}", series.name, series.ring->x));
    }
  }
  PointLabels labels(frame, canvas);
  for (const PlotSeries& series : plot.series) {
    for (std::size_t i = 0; series.dots && !series.labels.empty() && i < series.points.size(); ++i) {
      if (is_shown(series.points[i])) {
        labels.keep_clear(at(series.points[i]));
      }
    }
  }
  for (const PlotSeries& series : plot.series) {
    for (std::size_t i = 0; i < std::min(series.points.size(), series.labels.size()); ++i) {
      if (is_shown(series.points[i])) {
        labels.add(at(series.points[i]), series.labels[i]);
      }
    }
  }
  legend(plot, canvas, frame.left, frame.right, frame.bottom + frame.labels + kLine + kGap + 6, &canvas);
}

void paint(const GridPlot& plot, Canvas& canvas, bool with_title) {
  if (plot.values.size() != plot.x_labels.size() * plot.y_labels.size()) {
    throw Error(ErrorKind::Internal, {"a map's labels and values disagree", plot.title, "", "", ""});
  }
  if (with_title) {
    draw_title(plot.title, plot.note, canvas);
  }
  const GridFrame frame = frame_of(plot, canvas, with_title);
  const Frame& map = frame.map;
  draw_cells(plot, map, canvas);
  const double width = (map.right - map.left) / static_cast<double>(plot.x_labels.size());
  const double height = (map.bottom - map.top) / static_cast<double>(plot.y_labels.size());
  const std::size_t every_x =
      map.upright ? 1 : stride(plot.x_labels.size(), map.right - map.left, widest(plot.x_labels, canvas) + kGap);
  for (std::size_t i = 0; i < plot.x_labels.size(); i += every_x) {
    const double x = map.left + (static_cast<double>(i) + 0.5) * width;
    draw_label(map, x, plot.x_labels[i], canvas);
  }
  const std::size_t every_y = stride(plot.y_labels.size(), map.bottom - map.top, kLine - 3);
  for (std::size_t i = 0; i < plot.y_labels.size(); i += every_y) {
    const double y = map.bottom - (static_cast<double>(i) + 0.5) * height;
    canvas.text({map.left - kGap, y + 4}, Anchor::End, plot.y_labels[i], Ink::Soft);
  }
  draw_bar(plot, frame, canvas);
  canvas.text({(map.left + map.right) / 2, map.bottom + map.labels + kLine + 2}, Anchor::Middle, plot.x_title,
              Ink::Strong);
  canvas.upward_text({kMargin + 6, (map.top + map.bottom) / 2}, Anchor::Middle, plot.y_title, Ink::Strong);
  const double below = map.bottom + map.labels + 2 * kLine + 4;
  canvas.upward_text({frame.name, (map.top + map.bottom) / 2}, Anchor::Middle, plot.unit, Ink::Strong);
  if (has_gaps(plot)) {
    canvas.cell({map.left, below - kSwatch + 1}, kSwatch, kSwatch, kNoDataColor, "");
    canvas.text({map.left + kSwatch + 6, below}, Anchor::Start, "no data", Ink::Soft);
  }
}

/// Axes and legend of bars.
Plot axes_of(const BarPlot& bars) {
  constexpr std::size_t kMaxBytes = 50;
  double top = 0;
  PlotAxis names{bars.category_title, 0, static_cast<double>(std::max<std::size_t>(bars.categories.size(), 1))};
  names.names = true;
  for (std::size_t i = 0; i < bars.categories.size(); ++i) {
    const double place = static_cast<double>(i) + 0.5;
    names.ticks.push_back({bars.stacked ? names.high - place : place, text::shortened(bars.categories[i], kMaxBytes)});
    double sum = 0;
    for (const BarPlot::Series& series : bars.series) {
      const double value = std::isfinite(series.values[i]) ? series.values[i] : 0;
      sum = bars.stacked ? sum + value : std::max(sum, value);
    }
    top = std::max(top, sum);
  }
  PlotAxis values{bars.value_title, 0, bars.stacked && top > 0 ? top * 1.02 : rounded_up(top)};
  values.ticks = value_ticks(false, values.low, values.high, kMaxTicks);
  Plot plot{bars.title, bars.note, bars.stacked ? values : names, bars.stacked ? names : values};
  for (const BarPlot::Series& series : bars.series) {
    if (std::ranges::any_of(series.values, [](double value) { return std::isfinite(value) && value != 0; })) {
      plot.series.push_back({series.name, series.color});
    }
  }
  return plot;
}

PlotSize measured(const BarPlot& bars, const Canvas& measure, bool with_title) {
  return measured(axes_of(bars), measure, with_title);
}

void paint(const BarPlot& bars, Canvas& canvas, bool with_title) {
  const Plot plot = axes_of(bars);
  paint(plot, canvas, with_title);
  const Frame frame = frame_of(plot, canvas, with_title);
  const double room = bars.stacked ? frame.bottom - frame.top : frame.right - frame.left;
  const double step = room / static_cast<double>(std::max<std::size_t>(bars.categories.size(), 1));
  const double width = step * 0.84 / static_cast<double>(std::max<std::size_t>(bars.series.size(), 1));
  for (std::size_t i = 0; i < bars.categories.size(); ++i) {
    double from = 0;
    for (std::size_t k = 0; k < bars.series.size(); ++k) {
      const BarPlot::Series& series = bars.series[k];
      const double value = series.values[i], begin = step * static_cast<double>(i);
      if (!std::isfinite(value) || value <= 0) {
        continue;
      }
      const std::string title = fmt::format("{}, {}: {:.3g}", bars.categories[i], series.name, value);
      if (bars.stacked) {
        const double left = place(plot.x, from, frame.left, frame.right);
        from += value;
        canvas.bar({left, frame.top + begin + step * 0.15}, place(plot.x, from, frame.left, frame.right) - left,
                   step * 0.7, series.color, title);
      } else {
        const double y = place(plot.y, value, frame.bottom, frame.top);
        canvas.bar({frame.left + begin + step * 0.08 + width * static_cast<double>(k), y}, width * 0.94,
                   frame.bottom - y, series.color, title);
      }
    }
  }
}

/// Points at the ends of the range stay off the frame. A logarithmic axis gets at least a tenth more, since its points
/// may all have one value.
void widen(PlotAxis& axis, double margin) {
  if (margin <= 0) {
    return;
  }
  if (axis.logarithmic) {
    const double factor = std::max(std::pow(axis.high / axis.low, margin), 1.1);
    axis.low /= factor;
    axis.high *= factor;
    return;
  }
  const double room = margin * (axis.high - axis.low);
  axis.low -= room;
  axis.high += room;
}

}  // namespace

void fit_axes(Plot& plot, const AxisFit& fit) {
  double low = std::numeric_limits<double>::infinity(), high = -low, least = low, top = plot.rule.value_or(0);
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      if (std::isfinite(point.x) && std::isfinite(point.y) && (!plot.x.logarithmic || point.x > 0)) {
        low = std::min(low, point.x);
        high = std::max(high, point.x);
        top = std::max(top, point.y);
        least = point.y > 0 ? std::min(least, point.y) : least;
      }
    }
  }
  plot.x.low = low <= high ? low : plot.x.logarithmic ? 1 : 0;
  plot.x.high = high > plot.x.low ? high : plot.x.low + 1;
  plot.y.logarithmic = plot.y.logarithmic && std::isfinite(least);
  plot.y.low = plot.y.logarithmic ? std::pow(10.0, std::floor(std::log10(least))) : 0;
  plot.y.high = std::max(fit.high_y.value_or(rounded_up(top)), plot.y.low * 10);
  widen(plot.x, fit.margin);
  widen(plot.y, fit.margin);
  for (PlotAxis* axis : {&plot.x, &plot.y}) {
    const bool whole = axis == &plot.x && fit.whole_x;
    const auto room = static_cast<std::size_t>(axis->high - axis->low) + 1;
    const std::size_t most = whole ? std::min(kMaxTicks, room) : kMaxTicks;
    axis->ticks = axis->logarithmic ? logarithmic_ticks(false, axis->low, axis->high, most)
                                    : value_ticks(false, axis->low, axis->high, most);
    std::erase_if(axis->ticks, [whole](const PlotTick& tick) { return whole && tick.value != std::floor(tick.value); });
  }
}

PlotSize size_of(const Chart& chart, const Canvas& measure, bool with_title) {
  return std::visit([&](const auto& plot) { return measured(plot, measure, with_title); }, chart);
}

void draw(const Chart& chart, Canvas& canvas, bool with_title) {
  std::visit([&](const auto& plot) { paint(plot, canvas, with_title); }, chart);
}

Image render(const Chart& chart) {
  const ImageCanvas measure(1, 1);
  const PlotSize size = size_of(chart, measure, true);
  ImageCanvas canvas(size.width, size.height);
  draw(chart, canvas, true);
  return canvas.image();
}

}  // namespace rayreplay::pictures
