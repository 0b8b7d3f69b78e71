// Canvas: the target of a plot, pixels or SVG.
//
// Contract: coordinates are points, x to the right, y down; text is 12 points high with its baseline at y. `series`
// selects one of eight colours, modulo 8; from the ninth on lines are dashed. ImageCanvas draws two pixels to a point,
// lines and dots antialiased, text in the font of text.hpp (ASCII).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "app/report/charts/image.hpp"

namespace rayreplay::pictures {

inline constexpr int kSeriesColors = 8;

struct PlotPoint {
  double x = 0, y = 0;
};

enum class Anchor : std::uint8_t { Start, Middle, End };
enum class Ink : std::uint8_t { Soft, Strong, Grid, Light, Dark };

class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void line(PlotPoint from, PlotPoint to, Ink ink) = 0;
  virtual void polyline(std::span<const PlotPoint> points, std::size_t series, const std::string& title) = 0;
  /// `faint`: for large numbers of dots.
  virtual void dot(PlotPoint center, double radius, std::size_t series, bool faint, const std::string& title) = 0;
  virtual void cell(PlotPoint corner, double width, double height, Rgb color, const std::string& title) = 0;
  /// A square of the series' colour, for legends.
  virtual void swatch(PlotPoint corner, double side, std::size_t series) = 0;
  virtual void text(PlotPoint place, Anchor anchor, const std::string& content, Ink ink) = 0;
  /// Rotated to read upwards; `place` is its middle, its start (below) or its end (above).
  virtual void upward_text(PlotPoint place, Anchor anchor, const std::string& content, Ink ink) = 0;
  [[nodiscard]] virtual double text_width(const std::string& content) const = 0;
};

class ImageCanvas : public Canvas {
 public:
  ImageCanvas(double width, double height);
  void line(PlotPoint from, PlotPoint to, Ink ink) override;
  void polyline(std::span<const PlotPoint> points, std::size_t series, const std::string& title) override;
  void dot(PlotPoint center, double radius, std::size_t series, bool faint, const std::string& title) override;
  void cell(PlotPoint corner, double width, double height, Rgb color, const std::string& title) override;
  void swatch(PlotPoint corner, double side, std::size_t series) override;
  void text(PlotPoint place, Anchor anchor, const std::string& content, Ink ink) override;
  void upward_text(PlotPoint place, Anchor anchor, const std::string& content, Ink ink) override;
  [[nodiscard]] double text_width(const std::string& content) const override;

  [[nodiscard]] const Image& image() const {
    return image_;
  }

 private:
  void blend(std::int64_t x, std::int64_t y, Rgb color, double share);
  void stroke(PlotPoint from, PlotPoint to, double width, Rgb color, double dash_start, bool dashed);
  Image image_;
};

}  // namespace rayreplay::pictures
