#include "app/report/charts/canvas.hpp"

#include <algorithm>
#include <cmath>

#include "app/report/charts/text.hpp"

namespace rayreplay::pictures {
namespace {

constexpr double kScale = 2;  // pixels to a point
constexpr std::uint32_t kTextScale = 2;
constexpr double kBaseline = 9;  // points from the top of a line of text to its baseline
constexpr double kDash = 6;

constexpr Rgb rgb(std::uint32_t packed) {
  return {static_cast<std::uint8_t>(packed >> 16U), static_cast<std::uint8_t>(packed >> 8U),
          static_cast<std::uint8_t>(packed)};
}

enum ToneAt : std::uint8_t { kPaperTone, kInkTone, kSoftTone, kLineTone, kFirstSeriesTone };

constexpr Rgb tone(std::size_t place) {
  return rgb(kTones.at(place).light);
}

Rgb series_color(std::size_t series) {
  return tone(kFirstSeriesTone + series % kSeriesColors);
}

Rgb color_of(Ink ink) {
  switch (ink) {
    case Ink::Soft:
      return tone(kSoftTone);
    case Ink::Strong:
    case Ink::Rule:
    case Ink::Dark:
      return tone(kInkTone);
    case Ink::Grid:
      return tone(kLineTone);
    case Ink::Light:
      return {0xff, 0xff, 0xff};
  }
  return {};
}

std::int64_t pixel(double points) {
  return std::llround(points * kScale);
}

}  // namespace

ImageCanvas::ImageCanvas(double width, double height)
    : image_(static_cast<std::uint32_t>(pixel(width)), static_cast<std::uint32_t>(pixel(height)), tone(kPaperTone)) {}

void ImageCanvas::blend(std::int64_t x, std::int64_t y, Rgb color, double share) {
  if (x < 0 || y < 0 || x >= image_.width() || y >= image_.height() || share <= 0) {
    return;
  }
  const auto column = static_cast<std::uint32_t>(x), row = static_cast<std::uint32_t>(y);
  const Rgb old = image_.at(column, row);
  const auto mix = [share](std::uint8_t from, std::uint8_t to) {
    return static_cast<std::uint8_t>(std::lround(from + (to - from) * std::min(share, 1.0)));
  };
  image_.set(column, row, {mix(old.r, color.r), mix(old.g, color.g), mix(old.b, color.b)});
}

void ImageCanvas::stroke(PlotPoint from, PlotPoint to, double width, Rgb color, double dash_start, bool dashed) {
  // Coverage by the distance of a pixel's centre from the line.
  const double x1 = from.x * kScale, y1 = from.y * kScale, x2 = to.x * kScale, y2 = to.y * kScale;
  const double half = width * kScale / 2;
  const double dx = x2 - x1, dy = y2 - y1, length = std::hypot(dx, dy);
  const auto low_x = static_cast<std::int64_t>(std::floor(std::min(x1, x2) - half - 1));
  const auto high_x = static_cast<std::int64_t>(std::ceil(std::max(x1, x2) + half + 1));
  const auto low_y = static_cast<std::int64_t>(std::floor(std::min(y1, y2) - half - 1));
  const auto high_y = static_cast<std::int64_t>(std::ceil(std::max(y1, y2) + half + 1));
  for (std::int64_t y = low_y; y <= high_y; ++y) {
    for (std::int64_t x = low_x; x <= high_x; ++x) {
      const double px = static_cast<double>(x) + 0.5 - x1, py = static_cast<double>(y) + 0.5 - y1;
      const double along = length > 0 ? std::clamp((px * dx + py * dy) / length, 0.0, length) : 0;
      const double off =
          length > 0 ? std::hypot(px - dx / length * along, py - dy / length * along) : std::hypot(px, py);
      if (dashed && std::fmod(dash_start + along / kScale, 2 * kDash) > kDash) {
        continue;
      }
      blend(x, y, color, half + 0.5 - off);
    }
  }
}

void ImageCanvas::line(PlotPoint from, PlotPoint to, Ink ink) {
  stroke(from, to, 1, color_of(ink), 0, ink == Ink::Rule);
}

void ImageCanvas::polyline(std::span<const PlotPoint> points, std::size_t series, const std::string& /*title*/) {
  double way = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    stroke(points[i - 1], points[i], 2, series_color(series), way, series >= kSeriesColors);
    way += std::hypot(points[i].x - points[i - 1].x, points[i].y - points[i - 1].y);
  }
}

void ImageCanvas::disc(PlotPoint center, double radius, Rgb color, double share) {
  const double x = center.x * kScale, y = center.y * kScale, size = radius * kScale;
  for (auto row = static_cast<std::int64_t>(y - size - 1); row <= static_cast<std::int64_t>(y + size + 1); ++row) {
    for (auto column = static_cast<std::int64_t>(x - size - 1); column <= static_cast<std::int64_t>(x + size + 1);
         ++column) {
      const double off = std::hypot(static_cast<double>(column) + 0.5 - x, static_cast<double>(row) + 0.5 - y);
      blend(column, row, color, std::clamp(size + 0.5 - off, 0.0, 1.0) * share);
    }
  }
}

void ImageCanvas::dot(PlotPoint center, double radius, std::size_t series, bool faint, const std::string& /*title*/) {
  disc(center, radius, series_color(series), faint ? 0.45 : 1);
}

void ImageCanvas::ring(PlotPoint center, double radius, std::size_t series, const std::string& /*title*/) {
  constexpr double kHalfStroke = 1.25;
  disc(center, radius + kHalfStroke, series_color(series), 1);
  disc(center, radius - kHalfStroke, tone(kPaperTone), 1);
}

void ImageCanvas::band(std::span<const PlotPoint> upper, std::span<const PlotPoint> lower, std::size_t series) {
  constexpr double kShare = 0.2;
  for (std::size_t i = 1; i < upper.size(); ++i) {
    const double from = upper[i - 1].x, width = upper[i].x - from;
    for (std::int64_t x = pixel(from); x < pixel(upper[i].x); ++x) {
      const double share = ((static_cast<double>(x) + 0.5) / kScale - from) / width;
      const std::int64_t end = pixel(std::lerp(lower[i - 1].y, lower[i].y, share));
      for (std::int64_t y = pixel(std::lerp(upper[i - 1].y, upper[i].y, share)); y < end; ++y) {
        blend(x, y, series_color(series), kShare);
      }
    }
  }
}

void ImageCanvas::cell(PlotPoint corner, double width, double height, Rgb color, const std::string& /*title*/) {
  const std::int64_t left = pixel(corner.x), top = pixel(corner.y);
  image_.fill_rectangle(left, top, pixel(corner.x + width) - left, pixel(corner.y + height) - top, color);
}

void ImageCanvas::bar(PlotPoint corner, double width, double height, std::size_t series, const std::string& title) {
  cell(corner, width, height, series_color(series), title);
}

double ImageCanvas::text_width(const std::string& content) const {
  return pictures::text_width(content, kTextScale) / kScale;
}

void ImageCanvas::text(PlotPoint place, Anchor anchor, const std::string& content, Ink ink) {
  const double shift = anchor == Anchor::Start ? 0 : anchor == Anchor::End ? 1 : 0.5;
  draw_text(image_, pixel(place.x - text_width(content) * shift), pixel(place.y - kBaseline), content, kTextScale,
            color_of(ink));
}

void ImageCanvas::upward_text(PlotPoint place, Anchor anchor, const std::string& content, Ink ink) {
  constexpr Rgb kMark{0, 0, 0}, kEmpty{255, 255, 255};
  Image line(pictures::text_width(content, kTextScale) + 1, kLineHeight * kTextScale, kEmpty);
  draw_text(line, 0, 0, content, kTextScale, kMark);
  const std::int64_t left = pixel(place.x - kBaseline);
  const double below = anchor == Anchor::Start ? 0 : anchor == Anchor::End ? 1 : 0.5;
  const std::int64_t bottom = pixel(place.y + text_width(content) * below);
  for (std::uint32_t y = 0; y < line.height(); ++y) {
    for (std::uint32_t x = 0; x < line.width(); ++x) {
      if (line.at(x, y) == kMark) {
        blend(left + y, bottom - x, color_of(ink), 1);
      }
    }
  }
}

}  // namespace rayreplay::pictures
