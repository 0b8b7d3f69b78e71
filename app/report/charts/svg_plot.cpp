#include "app/report/charts/svg_plot.hpp"

#include <fmt/format.h>

#include "app/report/page/html_parts.hpp"

namespace rayreplay::report {
namespace {

using pictures::Anchor;
using pictures::Ink;
using pictures::PlotPoint;

// The colours of pages (html_parts.cpp), for a uniform look.
constexpr std::string_view kStyle = R"css(
svg { --paper: #fbfbfa; --ink: #1d1d1f; --soft: #62646a; --line: #d9dadd; --c0: #5f6470; --c1: #1f77b4; --c2: #d1580c;
  --c3: #2a8a3e; --c4: #8a4fbf; --c5: #b8860b; --c6: #c2336b; --c7: #12878f; background: #fbfbfa; }
@media (prefers-color-scheme: dark) { svg { --paper: #17181a; --ink: #e6e6e4; --soft: #9b9da3; --line: #36383c; --c0: #aeb3bd;
  --c1: #5aaae6; --c2: #f28e4b; --c3: #64c278; --c4: #b98be0; --c5: #dcb143; --c6: #ee6f9f; --c7: #4cc4cc;
  background: #17181a; } }
text { font: 12px system-ui, sans-serif; fill: var(--soft); } text.name { fill: var(--ink); }
.grid { stroke: var(--line); } .axis { stroke: var(--soft); }
polyline { fill: none; stroke: var(--k); stroke-width: 2; } polyline.dashed { stroke-dasharray: 6 4; }
.c0 { --k: var(--c0); } .c1 { --k: var(--c1); } .c2 { --k: var(--c2); } .c3 { --k: var(--c3); } .c4 { --k: var(--c4); }
.c5 { --k: var(--c5); } .c6 { --k: var(--c6); } .c7 { --k: var(--c7); }
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
                         ink == Ink::Grid ? "grid" : "axis", from.x, from.y, to.x, to.y);
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
  void swatch(PlotPoint corner, double side, std::size_t series) override {
    body_ += fmt::format(
        "<rect class=\"c{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:g}\" height=\"{:g}\" "
        "style=\"fill:var(--k)\"/>\n",
        series % pictures::kSeriesColors, corner.x, corner.y, side, side);
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

template <class Any>
std::string figure_of(const Any& plot) {
  SvgCanvas canvas;
  const pictures::PlotSize size = size_of(plot, canvas, false);
  draw(plot, canvas, false);
  return fmt::format(
      "<figure class=\"chart\"><h3>{0}</h3>\n<svg viewBox=\"0 0 {1:.0f} {2:.0f}\" role=\"img\" aria-label=\"{0}\">\n{3}"
      "</svg>\n<figcaption>{4}</figcaption></figure>\n",
      escape_html(plot.title), size.width, size.height, canvas.body(), escape_html(plot.note));
}

template <class Any>
std::string file_of(const Any& plot) {
  SvgCanvas canvas;
  const pictures::PlotSize size = size_of(plot, canvas, true);
  draw(plot, canvas, true);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\" aria-label=\"{2}\">\n<style>{3}</style>\n{4}</svg>\n",
      size.width, size.height, escape_html(plot.title), kStyle, canvas.body());
}

}  // namespace

std::string svg_figure(const pictures::Plot& plot) {
  return figure_of(plot);
}
std::string svg_figure(const pictures::GridPlot& plot) {
  return figure_of(plot);
}
std::string svg_file(const pictures::Plot& plot) {
  return file_of(plot);
}
std::string svg_file(const pictures::GridPlot& plot) {
  return file_of(plot);
}

}  // namespace rayreplay::report
