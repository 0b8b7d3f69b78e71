// Heat map: one value per pixel as a picture with title, colour bar, ticks and unit.
//
// Contract: `values` has width · height entries in row-major order, row 0 on top; NaN means no data and is drawn grey.
// A small map is enlarged by a whole factor; no map is reduced, so every value has at least one pixel. `map_area` is
// the map's rectangle. Values outside [low, high] take the end's colour. The picture is as wide as its text needs:
// nothing overlaps. Errors: Internal if the sizes disagree; Resource if the picture exceeds the limits of PNG.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/report/charts/colormap.hpp"
#include "app/report/charts/image.hpp"

namespace rayreplay::pictures {

struct HeatMap {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::span<const float> values;
  std::string title;
  std::string note;  ///< second line under the title; may be empty
  std::string unit;  ///< at the colour bar
  double low = 0;
  double high = 1;
  Colormap colormap = Colormap::Viridis;
};

struct Area {
  std::uint32_t x = 0, y = 0;
  std::uint32_t scale = 1;  ///< picture pixels a value
};

[[nodiscard]] Area map_area(const HeatMap& map);
[[nodiscard]] Image render(const HeatMap& map);
/// Throws Resource if no map of this size can be rendered: a check before long work. `where` as in base/png.hpp.
void require_drawable(std::uint32_t width, std::uint32_t height, const std::string& where);

}  // namespace rayreplay::pictures
