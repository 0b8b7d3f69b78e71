#include "app/report/charts/svg.hpp"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "app/report/page/page.hpp"

namespace rayreplay::report {
namespace {

using pictures::Anchor;
using pictures::Ink;
using pictures::PlotPoint;

constexpr std::string_view kRules = R"css(svg { background: var(--paper); }
svg text { font: 12px system-ui, sans-serif; fill: var(--soft); } svg text.name { fill: var(--ink); }
.grid { stroke: var(--line); } .axis { stroke: var(--soft); } .rule { stroke: var(--ink); stroke-dasharray: 2 3; }
polyline { fill: none; stroke: var(--k); stroke-width: 2; } polyline.dashed { stroke-dasharray: 6 4; }
polygon { fill: var(--k); opacity: .2; }
)css";

std::string tooltip(const std::string& title) {
  return title.empty() ? "" : "<title>" + escape_html(title) + "</title>";
}

const char* anchor_name(Anchor anchor) {
  return anchor == Anchor::Start ? "start" : anchor == Anchor::End ? "end" : "middle";
}

class SvgCanvas : public pictures::Canvas {
 public:
  void line(PlotPoint from, PlotPoint to, Ink ink) override {
    body_ += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                         ink == Ink::Grid   ? "grid"
                         : ink == Ink::Rule ? "rule"
                                            : "axis",
                         from.x, from.y, to.x, to.y);
  }
  void polyline(std::span<const PlotPoint> points, std::size_t series, const std::string& title) override {
    std::string way;
    for (const PlotPoint& point : points) {
      way += fmt::format("{}{:.1f},{:.1f}", way.empty() ? "" : " ", point.x, point.y);
    }
    body_ += fmt::format("<polyline class=\"c{}{}\" points=\"{}\">{}</polyline>\n", series % pictures::kSeriesColors,
                         series >= pictures::kSeriesColors ? " dashed" : "", way, tooltip(title));
  }
  void dot(PlotPoint center, double radius, std::size_t series, bool faint, const std::string& title) override {
    body_ += fmt::format(
        "<circle class=\"c{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" "
        "style=\"fill:var(--k);stroke:none{}\">{}</circle>\n",
        series % pictures::kSeriesColors, center.x, center.y, radius, faint ? ";opacity:.45" : "", tooltip(title));
  }
  void cell(PlotPoint corner, double width, double height, pictures::Rgb color, const std::string& title) override {
    body_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" shape-rendering=\"crispEdges\" "
        "style=\"fill:#{:02x}{:02x}{:02x}\">{}</rect>\n",
        corner.x, corner.y, width, height, color.r, color.g, color.b, tooltip(title));
  }
  void bar(PlotPoint corner, double width, double height, std::size_t series, const std::string& title) override {
    body_ += fmt::format(
        "<rect class=\"c{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.4g}\" height=\"{:.4g}\" style=\"fill:var(--k)\"{}\n",
        series % pictures::kSeriesColors, corner.x, corner.y, width, height,
        title.empty() ? "/>" : ">" + tooltip(title) + "</rect>");
  }
  void ring(PlotPoint center, double radius, std::size_t series, const std::string& title) override {
    body_ += fmt::format(
        "<circle class=\"c{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" "
        "style=\"fill:var(--paper);stroke:var(--k);stroke-width:2.5\">{}</circle>\n",
        series % pictures::kSeriesColors, center.x, center.y, radius, tooltip(title));
  }
  void band(std::span<const PlotPoint> upper, std::span<const PlotPoint> lower, std::size_t series) override {
    std::string way;
    const auto add = [&way](const PlotPoint& point) {
      way += fmt::format("{}{:.1f},{:.1f}", way.empty() ? "" : " ", point.x, point.y);
    };
    std::ranges::for_each(upper, add);
    std::ranges::for_each(lower | std::views::reverse, add);
    body_ += fmt::format("<polygon class=\"c{}\" points=\"{}\"></polygon>\n", series % pictures::kSeriesColors, way);
  }
  void text(PlotPoint place, Anchor anchor, const std::string& content, Ink ink) override {
    add_text(place, anchor_name(anchor), content, ink, "");
  }
  void upward_text(PlotPoint place, Anchor anchor, const std::string& content, Ink ink) override {
    add_text(place, anchor_name(anchor), content, ink,
             fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", place.x, place.y));
  }
  [[nodiscard]] double text_width(const std::string& content) const override {
    constexpr double kLetter = 6.7;  // average of the widest usual font
    return kLetter * static_cast<double>(content.size());
  }
  [[nodiscard]] const std::string& body() const {
    return body_;
  }

 private:
  void add_text(PlotPoint place, const char* anchor, const std::string& content, Ink ink, const std::string& more) {
    if (content.empty()) {
      return;
    }
    const std::string color = ink == Ink::Light  ? " style=\"fill:#fff\""
                              : ink == Ink::Dark ? " style=\"fill:#1d1d1f\""
                                                 : "";
    body_ += fmt::format("<text{} x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}{}>{}</text>\n",
                         ink == Ink::Strong ? " class=\"name\"" : "", place.x, place.y, anchor, more, color,
                         escape_html(content));
  }
  std::string body_;
};

}  // namespace

std::string svg_figure(const pictures::Chart& chart) {
  SvgCanvas canvas;
  const pictures::PlotSize size = size_of(chart, canvas, false);
  draw(chart, canvas, false);
  const auto [title, note] = std::visit([](const auto& plot) { return std::pair(plot.title, plot.note); }, chart);
  return fmt::format(
      "<figure class=\"chart\"><h3>{0}</h3>\n<svg viewBox=\"0 0 {1:.0f} {2:.0f}\" role=\"img\" aria-label=\"{0}\">\n{3}"
      "</svg>\n<figcaption>{4}</figcaption></figure>\n",
      escape_html(title), size.width, size.height, canvas.body(), escape_html(note));
}

std::string svg_file(const pictures::Chart& chart) {
  SvgCanvas canvas;
  const pictures::PlotSize size = size_of(chart, canvas, true);
  draw(chart, canvas, true);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\" aria-label=\"{2}\">\n<style>\n{3}</style>\n{4}</svg>\n",
      size.width, size.height, escape_html(std::visit([](const auto& plot) { return plot.title; }, chart)),
      chart_style(), canvas.body());
}

std::string chart_style() {
  std::string light, dark, series;
  for (const pictures::Tone& tone : pictures::kTones) {
    light += fmt::format(" --{}: #{:06x};", tone.name, tone.light);
    dark += fmt::format(" --{}: #{:06x};", tone.name, tone.dark);
    series += tone.name[0] == 'c' ? fmt::format(".{0} {{ --k: var(--{0}); }} ", tone.name) : "";
  }
  return fmt::format(":root {{{} }}\n@media (prefers-color-scheme: dark) {{ :root {{{} }} }}\n{}{}\n", light, dark,
                     kRules, series);
}

}  // namespace rayreplay::report
