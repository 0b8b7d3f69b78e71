#include "app/report/charts/svg_chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/report/charts/heatmap.hpp"
#include "app/report/page/html_parts.hpp"

namespace rayreplay::report {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 330;
constexpr double kLeft = 64, kRight = 20, kTop = 14, kBottom = 54;
constexpr double kRow = 30;  // of a stacked bar
constexpr double kLetter = 6.6;
constexpr std::size_t kColors = 8;
constexpr std::size_t kPartColors = 5;
constexpr std::size_t kTicks = 7;

std::string color_class(std::size_t series) {
  return fmt::format("c{}{}", series % kColors, series >= kColors ? " dashed" : "");
}

std::string text(double x, double y, const char* anchor, const std::string& content, const std::string& more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     escape_html(content));
}

std::string line(double x1, double y1, double x2, double y2, const char* name) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"></line>\n", name, x1,
                     y1, x2, y2);
}

std::string rectangle(double x, double y, double width, double height, const std::string& name,
                      const std::string& title) {
  return fmt::format(
      "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"><title>{}</title></rect>\n",
      name, x, y, std::max(width, 0.0), std::max(height, 0.0), escape_html(title));
}

/// Values to picture coordinates.
class Scale {
 public:
  Scale(double low, double high, double from, double to, bool logarithmic)
      : low_(low), high_(high > low ? high : low + 1), from_(from), to_(to), logarithmic_(logarithmic) {}

  [[nodiscard]] double operator()(double value) const {
    const double share =
        logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
    return from_ + share * (to_ - from_);
  }
  [[nodiscard]] bool shows(double value) const {
    return std::isfinite(value) && (!logarithmic_ || value > 0) && value >= low_ && value <= high_;
  }
  [[nodiscard]] std::vector<std::pair<double, std::string>> ticks(bool whole) const {
    std::vector<std::pair<double, std::string>> result;
    if (logarithmic_) {
      for (int exponent = static_cast<int>(std::ceil(std::log10(low_) - 1e-9));; ++exponent) {
        const double decade = std::pow(10.0, exponent);
        if (!(decade <= high_ * (1 + 1e-9))) {
          break;
        }
        result.emplace_back(decade, decade >= 1e6   ? fmt::format("{:g}M", decade / 1e6)
                                    : decade >= 1e3 ? fmt::format("{:g}k", decade / 1e3)
                                                    : fmt::format("{:g}", decade));
      }
      return result;
    }
    const std::vector<double> values = pictures::ticks(low_, high_, kTicks);
    const double step = values.size() > 1 ? values[1] - values[0] : 1;
    for (const double value : values) {
      if (!whole || value == std::floor(value)) {
        result.emplace_back(value, pictures::tick_label(value, whole ? std::max(step, 1.0) : step));
      }
    }
    return result;
  }

 private:
  double low_, high_, from_, to_;
  bool logarithmic_;
};

/// The next round number above.
double rounded_up(double value) {
  if (!(value > 0)) {
    return 1;
  }
  const double decade = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0}) {
    if (value <= step * decade * (1 + 1e-9)) {
      return step * decade;
    }
  }
  return 10 * decade;
}

std::string axes(const Scale& x, const Scale& y, const std::string& x_title, const std::string& y_title, bool whole_x,
                 bool x_ticks) {
  const double right = kWidth - kRight, bottom = kHeight - kBottom;
  std::string svg;
  for (const auto& [value, label] : y.ticks(false)) {
    svg += line(kLeft, y(value), right, y(value), "grid");
    svg += text(kLeft - 8, y(value) + 4, "end", label);
  }
  if (x_ticks) {
    for (const auto& [value, label] : x.ticks(whole_x)) {
      svg += line(x(value), bottom, x(value), bottom + 5, "axis");
      svg += text(x(value), bottom + 19, "middle", label);
    }
  }
  svg += line(kLeft, bottom, right, bottom, "axis");
  svg += text((kLeft + right) / 2, kHeight - 12, "middle", x_title, " class=\"name\"");
  const double middle = (kTop + bottom) / 2;
  return svg + text(16, middle, "middle", y_title,
                    fmt::format(" class=\"name\" transform=\"rotate(-90 16 {:.1f})\"", middle));
}

std::string start(const std::string& title, double height) {
  return fmt::format(
      "<figure class=\"chart\"><h3>{0}</h3>\n<svg viewBox=\"0 0 {1:.0f} {2:.0f}\" role=\"img\" aria-label=\"{0}\">\n",
      escape_html(title), kWidth, height);
}

/// Colours of stacked bars differ from those of lines and bars.
std::string part_class(std::size_t part) {
  return fmt::format("p{}", part % kPartColors);
}

/// An all-zero series is left out of a stack's legend.
bool is_empty(const BarSeries& series) {
  return std::ranges::all_of(series.values, [](double value) { return !std::isfinite(value) || value == 0; });
}

/// The band of a line with `spread`: along its upper side and back along the lower one, within [low, high].
std::string band(const ChartLine& one, const Scale& x, const Scale& y, double low, double high) {
  std::vector<std::string> upper, lower;
  for (std::size_t i = 0; i < one.points.size() && i < one.spread.size(); ++i) {
    const ChartPoint& point = one.points[i];
    if (x.shows(point.x) && y.shows(point.y) && std::isfinite(one.spread[i])) {
      upper.push_back(fmt::format("{:.2f},{:.2f}", x(point.x), y(std::min(point.y + one.spread[i], high))));
      lower.push_back(fmt::format("{:.2f},{:.2f}", x(point.x), y(std::max(point.y - one.spread[i], low))));
    }
  }
  if (upper.empty()) {
    return "";
  }
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  return fmt::format("<polygon class=\"{}\" points=\"{}\"></polygon>\n", color_class(one.color), fmt::join(upper, " "));
}

template <class Items, class Class>
std::string end(const Items& items, const Class& class_of, const std::string& caption, bool skip_empty = false) {
  std::string html = "</svg>\n<ul class=\"legend\">";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if constexpr (std::is_same_v<std::decay_t<decltype(items[i])>, BarSeries>) {
      if (skip_empty && is_empty(items[i])) {
        continue;
      }
    }
    html += fmt::format("<li><span class=\"{}\"></span>{}</li>", class_of(i), escape_html(items[i].name));
  }
  return html + fmt::format("</ul>\n<figcaption>{}</figcaption></figure>\n", escape_html(caption));
}

}  // namespace

std::string to_svg(const LineChart& chart) {
  double low = std::numeric_limits<double>::infinity(), high = -low, top = chart.rule.value_or(0);
  double least = std::numeric_limits<double>::infinity();  // above 0
  for (const ChartLine& one : chart.lines) {
    for (const ChartPoint& point : one.points) {
      if (std::isfinite(point.x) && std::isfinite(point.y) && (!chart.log_x || point.x > 0)) {
        low = std::min(low, point.x);
        high = std::max(high, point.x);
        top = std::max(top, point.y);
        least = point.y > 0 ? std::min(least, point.y) : least;
      }
    }
  }
  if (!(low <= high)) {
    low = chart.log_x ? 1 : 0;
    high = chart.log_x ? 10 : 1;
  }
  const Scale x(low, high, kLeft, kWidth - kRight, chart.log_x);
  const double floor = !chart.log_y || !std::isfinite(least) ? 0 : std::pow(10.0, std::floor(std::log10(least)));
  const Scale y(floor, chart.y_high.value_or(rounded_up(top)), kHeight - kBottom, kTop, floor > 0);
  std::string svg = start(chart.title, kHeight) + axes(x, y, chart.x_title, chart.y_title, chart.whole_x, true);
  if (chart.rule) {
    svg += line(kLeft, y(*chart.rule), kWidth - kRight, y(*chart.rule), "rule");
  }
  for (const ChartLine& one : chart.lines) {
    svg += band(one, x, y, floor, chart.y_high.value_or(rounded_up(top)));
  }
  for (const ChartLine& one : chart.lines) {
    std::string points;
    for (const ChartPoint& point : one.points) {
      if (x.shows(point.x) && y.shows(point.y)) {
        points += fmt::format("{}{:.2f},{:.2f}", points.empty() ? "" : " ", x(point.x), y(point.y));
      }
    }
    svg += fmt::format("<polyline class=\"{}\" points=\"{}\"><title>{}</title></polyline>\n", color_class(one.color),
                       points, escape_html(one.name));
    const std::optional<ChartPoint>& marked = one.marked;
    if (marked && x.shows(marked->x) && y.shows(marked->y)) {
      svg += fmt::format("<circle class=\"{}\" cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"6\"><title>{}</title></circle>\n",
                         color_class(one.color), x(marked->x), y(marked->y),
                         escape_html(fmt::format("{}: {:.0f}", one.name, marked->x)));
    }
  }
  return svg + end(
                   chart.lines, [&chart](std::size_t i) { return color_class(chart.lines[i].color); }, chart.caption);
}

std::string to_svg(const BarChart& chart) {
  double top = 0;
  for (const BarSeries& series : chart.series) {
    for (const double value : series.values) {
      top = std::isfinite(value) ? std::max(top, value) : top;
    }
  }
  const auto groups = static_cast<double>(std::max<std::size_t>(chart.categories.size(), 1));
  const Scale x(0, groups, kLeft, kWidth - kRight, false);
  const Scale y(0, rounded_up(top), kHeight - kBottom, kTop, false);
  std::string svg = start(chart.title, kHeight) + axes(x, y, chart.x_title, chart.y_title, true, false);
  const double group = (kWidth - kRight - kLeft) / groups;
  const double bar = group * 0.84 / static_cast<double>(std::max<std::size_t>(chart.series.size(), 1));
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    const double left = x(static_cast<double>(i));
    svg += text(left + group / 2, kHeight - kBottom + 19, "middle", chart.categories[i]);
    for (std::size_t k = 0; k < chart.series.size(); ++k) {
      const double value = chart.series[k].values[i];
      if (std::isfinite(value)) {
        svg += rectangle(left + group * 0.08 + bar * static_cast<double>(k), y(value), bar * 0.94, y(0) - y(value),
                         color_class(chart.series[k].color),
                         fmt::format("{}, {}: {:.2f}", chart.series[k].name, chart.categories[i], value));
      }
    }
  }
  return svg + end(
                   chart.series, [&chart](std::size_t i) { return color_class(chart.series[i].color); }, chart.caption);
}

std::string to_svg(const StackChart& chart) {
  std::size_t longest = 0;
  double top = 0;
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    longest = std::max(longest, chart.categories[i].size());
    double sum = 0;
    for (const BarSeries& series : chart.series) {
      sum += std::isfinite(series.values[i]) ? series.values[i] : 0;
    }
    top = std::max(top, sum);
  }
  // Names are beside their bars if there is room, else above them.
  const double wanted = static_cast<double>(longest) * kLetter + 16;
  const bool beside = wanted <= kWidth * 0.4;
  const double left = beside ? std::max(wanted, kLeft) : 12;
  const double row = beside ? kRow : kRow + 16;
  const double bottom = kTop + row * static_cast<double>(chart.categories.size());
  const double height = bottom + kBottom;
  const Scale x(0, top > 0 ? top * 1.02 : 1, left, kWidth - kRight, false);
  std::string svg = start(chart.title, height);
  for (const auto& [value, label] : x.ticks(false)) {
    svg += line(x(value), kTop, x(value), bottom, "grid");
    svg += text(x(value), bottom + 19, "middle", label);
  }
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    const double bar = kTop + row * static_cast<double>(i) + (beside ? 4 : 18);
    svg += beside ? text(left - 8, bar + 15, "end", chart.categories[i])
                  : text(left, bar - 5, "start", chart.categories[i]);
    double from = 0;
    for (std::size_t k = 0; k < chart.series.size(); ++k) {
      const double value = chart.series[k].values[i];
      if (std::isfinite(value) && value > 0) {
        svg += rectangle(x(from), bar, x(from + value) - x(from), kRow - 8, part_class(k),
                         fmt::format("{}, {}: {:.3g}", chart.categories[i], chart.series[k].name, value));
        from += value;
      }
    }
  }
  svg += line(left, bottom, kWidth - kRight, bottom, "axis");
  svg += text((left + kWidth - kRight) / 2, height - 12, "middle", chart.x_title, " class=\"name\"");
  return svg + end(chart.series, part_class, chart.caption, true);
}

}  // namespace rayreplay::report
