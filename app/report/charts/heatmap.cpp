#include "app/report/charts/heatmap.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/report/charts/axis.hpp"
#include "app/report/charts/text.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/png.hpp"

namespace rayreplay::pictures {
namespace {

constexpr std::uint32_t kMargin = 20;
constexpr std::uint32_t kTextScale = 2;
constexpr std::uint32_t kTextHeight = kLineHeight * kTextScale;
constexpr std::uint32_t kBarHeight = 20;
constexpr std::uint32_t kTickLength = 6;
constexpr std::uint32_t kGap = 10;
constexpr std::uint32_t kEnlargedWidth = 1280;  // small maps are enlarged up to about this width
constexpr std::uint32_t kMinWidth = 640;        // room for the colour bar
constexpr Rgb kPaper{250, 250, 250};
constexpr Rgb kInk{30, 30, 30};
constexpr Rgb kSoftInk{95, 95, 95};
const std::string kNoData = "no data";

struct Layout {
  Area map;
  std::uint32_t bar_y = 0;
  std::uint32_t bar_width = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

bool has_gaps(const HeatMap& map) {
  return std::any_of(map.values.begin(), map.values.end(), [](float value) { return !std::isfinite(value); });
}

/// Label right of the colour bar, for pixels without data.
std::uint32_t legend_width(const HeatMap& map) {
  return has_gaps(map) ? kGap * 3 + kBarHeight + text_width(kNoData, kTextScale) : 0;
}

Layout lay_out(const HeatMap& map) {
  Layout layout;
  layout.map.scale = std::max(1U, kEnlargedWidth / std::max(1U, map.width));
  while (layout.map.scale > 1 && map.height * layout.map.scale > kEnlargedWidth) {
    --layout.map.scale;
  }
  const std::uint32_t map_width = map.width * layout.map.scale;
  const std::uint32_t legend = legend_width(map);
  const std::uint32_t inner = std::max({map_width, kMinWidth, text_width(map.title, kTextScale),
                                        text_width(map.note, kTextScale), text_width(map.unit, kTextScale) + legend});
  layout.map.x = kMargin + (inner - map_width) / 2;
  layout.map.y = kMargin + kTextHeight + (map.note.empty() ? 0 : kTextHeight) + kGap;
  layout.bar_y = layout.map.y + map.height * layout.map.scale + kGap * 2;
  layout.bar_width = inner - legend;
  layout.width = inner + kMargin * 2;
  // Below the bar: tick marks, tick labels, the unit.
  layout.height = layout.bar_y + kBarHeight + kTickLength + kTextHeight * 2 + kGap + kMargin;
  return layout;
}

void draw_map(Image& image, const HeatMap& map, const Area& area) {
  const double range = map.high > map.low ? map.high - map.low : 1.0;
  for (std::uint32_t y = 0; y < map.height; ++y) {
    for (std::uint32_t x = 0; x < map.width; ++x) {
      const auto value = static_cast<double>(map.values[std::size_t{y} * map.width + x]);
      const Rgb color = color_at(map.colormap, (value - map.low) / range);
      image.fill_rectangle(area.x + std::int64_t{x} * area.scale, area.y + std::int64_t{y} * area.scale, area.scale,
                           area.scale, color);
    }
  }
}

std::size_t most_ticks(const HeatMap& map, std::uint32_t bar_width) {
  const std::uint32_t widest =
      std::max(text_width(tick_label(map.low, 1e-3), kTextScale), text_width(tick_label(map.high, 1e-3), kTextScale));
  return std::clamp<std::size_t>(bar_width / (widest + kGap * 3), 2, 9);
}

void draw_bar(Image& image, const HeatMap& map, const Layout& layout) {
  for (std::uint32_t i = 0; i < layout.bar_width; ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(layout.bar_width - 1);
    image.fill_rectangle(kMargin + i, layout.bar_y, 1, kBarHeight, color_at(map.colormap, place));
  }
  const std::vector<double> marks = ticks(map.low, map.high, most_ticks(map, layout.bar_width));
  const double step = marks.size() > 1 ? marks[1] - marks[0] : 1.0;
  const std::uint32_t label_y = layout.bar_y + kBarHeight + kTickLength + 4;
  for (const double mark : marks) {
    const double place = (mark - map.low) / (map.high > map.low ? map.high - map.low : 1.0);
    const std::int64_t x = kMargin + std::llround(place * (layout.bar_width - 1));
    image.fill_rectangle(x - 1, layout.bar_y + kBarHeight, 2, kTickLength, kInk);
    const std::string label = tick_label(mark, step);
    const std::int64_t width = text_width(label, kTextScale);
    // Labels at the ends are moved inside the picture.
    const std::int64_t left = std::clamp<std::int64_t>(x - width / 2, kMargin, image.width() - kMargin / 2 - width);
    draw_text(image, left, label_y, label, kTextScale, kInk);
  }
  draw_text(image, kMargin, label_y + kTextHeight + kGap / 2, map.unit, kTextScale, kSoftInk);
  if (has_gaps(map)) {
    const std::uint32_t x = kMargin + layout.bar_width + kGap * 2;
    image.fill_rectangle(x, layout.bar_y, kBarHeight, kBarHeight, kNoDataColor);
    draw_text(image, x + kBarHeight + kGap, layout.bar_y + 2, kNoData, kTextScale, kInk);
  }
}

}  // namespace

Area map_area(const HeatMap& map) {
  return lay_out(map).map;
}

void require_drawable(std::uint32_t width, std::uint32_t height, const std::string& where) {
  // Margins of every map, with the narrowest texts.
  const HeatMap nothing;
  require_png_size(std::max(std::uint64_t{width}, std::uint64_t{kMinWidth}) + 2 * kMargin,
                   std::uint64_t{height} + lay_out(nothing).height, where);
}

Image render(const HeatMap& map) {
  if (map.values.size() != std::size_t{map.width} * map.height) {
    throw Error(ErrorKind::Internal,
                {"a heat map's size and values disagree", map.title, counted(map.values.size(), "value"),
                 fmt::format("{}", std::size_t{map.width} * map.height), ""});
  }
  require_drawable(map.width, map.height, map.title);
  const Layout layout = lay_out(map);
  require_png_size(layout.width, layout.height, map.title);
  Image image(layout.width, layout.height, kPaper);
  draw_text(image, kMargin, kMargin, map.title, kTextScale, kInk);
  if (!map.note.empty()) {
    draw_text(image, kMargin, kMargin + kTextHeight, map.note, kTextScale, kSoftInk);
  }
  draw_map(image, map, layout.map);
  draw_bar(image, map, layout);
  return image;
}

}  // namespace rayreplay::pictures
