// The pictures of a launch and of its packings, as bytes of PNG files.
//
// Contract: efficiency is drawn from 0 to 100 % in every picture, so that packings are comparable by eye. Counts are
// drawn from 0 to the value that 99.9 % of the pixels do not exceed; the note gives the largest. The launch order is
// drawn over all warps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/charts/heatmap.hpp"
#include "app/report/page/page.hpp"
#include "sim/engine/stages/simt.hpp"

namespace rayreplay::report {

/// With the map's size and values.
[[nodiscard]] pictures::HeatMap heat_map(const experiment::PixelMap& map, pictures::Colormap colormap);

/// The shown form of a scale of counts.
struct Spread {
  std::size_t pixels = 0;  ///< with data
  double mean = 0, largest = 0;
  double typical = 0;  ///< 99.9 % of the pixels do not exceed it
};
[[nodiscard]] Spread spread_of(const std::vector<float>& values);

/// `what`: in the plural, "rays". NaN pixels have no data: grey, and left out of mean and scale. `with`: what the
/// others have.
[[nodiscard]] std::string count_picture(const experiment::PixelMap& map, const std::string& what,
                                        pictures::Colormap colormap, const std::string& with = "rays");

[[nodiscard]] std::string order_picture(const experiment::PixelMap& map, std::uint64_t warps, const std::string& order,
                                        pictures::Colormap colormap);

/// The launch's own pictures, then the efficiency of every row. Empty for a result without maps.
[[nodiscard]] std::vector<Picture> make_pictures(const experiment::WhatIfResult& result, pictures::Colormap colormap);

/// Letters, digits and '-' of a packing's name, for a file name.
[[nodiscard]] std::string file_word(const std::string& packing);

}  // namespace rayreplay::report
