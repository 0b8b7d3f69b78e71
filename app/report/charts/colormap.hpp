// Colour maps: a value in [0, 1] to a colour.
//
// Contract: Viridis and Plasma have 256 entries each, nearest entry; perceptually uniform and legible without colour
// vision. They are for amounts, and have names for the command line. BlueRed is for changes: blue below 0.5, nearly
// white there, red above; linear between 11 colours. Values outside [0, 1] take the end's colour; NaN and infinities
// take kNoDataColor. Sources: the tables of Smith, van der Walt and Firing (2015), CC0; RdBu of ColorBrewer
// (Cynthia Brewer and Mark Harrower, Pennsylvania State University, Apache License 2.0).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/charts/image.hpp"

namespace rayreplay::pictures {

inline constexpr std::size_t kColormapEntries = 256;
inline constexpr Rgb kNoDataColor{128, 128, 128};

enum class Colormap : std::uint8_t { Viridis, Plasma, BlueRed };

[[nodiscard]] Rgb color_at(Colormap map, double value);
[[nodiscard]] const std::vector<std::string>& colormap_names();
[[nodiscard]] Colormap parse_colormap(const std::string& name);  ///< Usage, at --colormap, names the nearest

}  // namespace rayreplay::pictures
