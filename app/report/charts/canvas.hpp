// Canvas: the target of a plot, pixels or SVG.
//
// Contract: coordinates are points, x to the right, y down; text is 12 points high with its baseline at y. `series`
// selects one of eight colours, modulo 8; from the ninth on lines are dashed. ImageCanvas draws two pixels to a point,
// lines and dots antialiased, text in the font of text.hpp (ASCII).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "app/report/charts/image.hpp"

namespace rayreplay::pictures {

inline constexpr int kSeriesColors = 10;

/// The one table of colours of charts and pages: a name in style sheets, the colour on light and on dark paper. c0 to
/// c7 are those of series.
struct Tone {
  const char* name;
  std::uint32_t light, dark;  ///< 0xRRGGBB
};
inline constexpr std::array<Tone, 4 + kSeriesColors> kTones = {{{"paper", 0xfbfbfa, 0x17181a},
                                                                {"ink", 0x1d1d1f, 0xe6e6e4},
                                                                {"soft", 0x62646a, 0x9b9da3},
                                                                {"line", 0xd9dadd, 0x36383c},
                                                                {"c0", 0x5f6470, 0xaeb3bd},
                                                                {"c1", 0x1f77b4, 0x5aaae6},
                                                                {"c2", 0xd1580c, 0xf28e4b},
                                                                {"c3", 0x2a8a3e, 0x64c278},
                                                                {"c4", 0x8a4fbf, 0xb98be0},
                                                                {"c5", 0xb8860b, 0xdcb143},
                                                                {"c6", 0xc2336b, 0xee6f9f},
                                                                {"c7", 0x12878f, 0x4cc4cc},
                                                                {"c8", 0x7a4a2b, 0xc09070},
                                                                {"c9", 0xb4b7be, 0x5b5e66}}};

struct PlotPoint {
  double x = 0, y = 0;
};

enum class Anchor : std::uint8_t { Start, Middle, End };
enum class Ink : std::uint8_t { Soft, Strong, Grid, Rule, Light, Dark };  ///< Rule: dashed lines

class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void line(PlotPoint from, PlotPoint to, Ink ink) = 0;
  virtual void polyline(std::span<const PlotPoint> points, std::size_t series, const std::string& title) = 0;
  /// `faint`: for large numbers of dots.
  virtual void dot(PlotPoint center, double radius, std::size_t series, bool faint, const std::string& title) = 0;
  virtual void cell(PlotPoint corner, double width, double height, Rgb color, const std::string& title) = 0;
  /// In the series' colour.
  virtual void bar(PlotPoint corner, double width, double height, std::size_t series, const std::string& title) = 0;
  virtual void ring(PlotPoint center, double radius, std::size_t series, const std::string& title) = 0;
  /// A faint area between two lines with the same x.
  virtual void band(std::span<const PlotPoint> upper, std::span<const PlotPoint> lower, std::size_t series) = 0;
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
  void bar(PlotPoint corner, double width, double height, std::size_t series, const std::string& title) override;
  void ring(PlotPoint center, double radius, std::size_t series, const std::string& title) override;
  void band(std::span<const PlotPoint> upper, std::span<const PlotPoint> lower, std::size_t series) override;
  void text(PlotPoint place, Anchor anchor, const std::string& content, Ink ink) override;
  void upward_text(PlotPoint place, Anchor anchor, const std::string& content, Ink ink) override;
  [[nodiscard]] double text_width(const std::string& content) const override;

  [[nodiscard]] const Image& image() const {
    return image_;
  }

 private:
  void disc(PlotPoint center, double radius, Rgb color, double share);
  void blend(std::int64_t x, std::int64_t y, Rgb color, double share);
  void stroke(PlotPoint from, PlotPoint to, double width, Rgb color, double dash_start, bool dashed);
  Image image_;
};

}  // namespace rayreplay::pictures
