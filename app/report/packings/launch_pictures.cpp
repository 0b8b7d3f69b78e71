#include "app/report/packings/launch_pictures.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "app/report/export/table.hpp"
#include "base/count_text.hpp"

namespace rayreplay::report {
namespace {

using experiment::PixelMap;
using pictures::HeatMap;

constexpr double kScaleShare = 0.999;  // share of the pixels within the scale of a count

std::string efficiency_picture(const PixelMap& map, const std::string& packing, double efficiency,
                               pictures::Colormap colormap) {
  HeatMap heat = heat_map(map, colormap);
  heat.title = "SIMT efficiency per pixel: " + packing;
  heat.note = fmt::format("launch: {:.2f} %", efficiency * 100);
  heat.unit = "active lanes of the warp events that the pixel took part in (%)";
  heat.high = 100;
  return encode_png(render(heat));
}

}  // namespace

HeatMap heat_map(const PixelMap& map, pictures::Colormap colormap) {
  HeatMap heat;
  heat.width = map.width;
  heat.height = map.height;
  heat.values = map.values;
  heat.colormap = colormap;
  return heat;
}

Spread spread_of(const std::vector<float>& values) {
  std::vector<float> sorted = values;
  std::erase_if(sorted, [](float value) { return std::isnan(value); });
  if (sorted.empty()) {
    sorted.push_back(0);
  }
  const auto pixels = static_cast<double>(sorted.size());
  const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  const auto place = sorted.begin() + static_cast<std::ptrdiff_t>(std::floor(kScaleShare * (pixels - 1)));
  std::nth_element(sorted.begin(), place, sorted.end());
  return {sorted.size(), sum / pixels, static_cast<double>(*std::max_element(place, sorted.end())),
          static_cast<double>(*place)};
}

std::string count_picture(const PixelMap& map, const std::string& what, pictures::Colormap colormap,
                          const std::string& with) {
  const Spread spread = spread_of(map.values);
  const bool whole = std::ranges::none_of(map.values, [](float value) { return std::isnan(value); });
  HeatMap heat = heat_map(map, colormap);
  heat.high = std::max(1.0, spread.typical);
  heat.title = what + " per pixel";
  heat.title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(heat.title.front())));
  heat.note = fmt::format("mean {:.2f}{}, largest {:.0f}{}", spread.mean,
                          whole ? "" : " over " + counted(spread.pixels, "pixel") + " with " + with, spread.largest,
                          spread.largest > heat.high ? " (beyond the scale's end)" : "");
  heat.unit = what + " (count)";
  return encode_png(render(heat));
}

std::string file_word(const std::string& packing) {
  const bool is_file = packing.starts_with("file:");
  std::string word = is_file ? "swizzle" : packing.substr(0, packing.find(':'));
  std::replace_if(
      word.begin(), word.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '-');
  return word;
}

std::string order_picture(const PixelMap& map, std::uint64_t warps, const std::string& order,
                          pictures::Colormap colormap) {
  HeatMap heat = heat_map(map, colormap);
  heat.title = "Warp launch order";
  heat.note = order;
  heat.unit = "place in the launch order (warp), " + counted(warps, "warp");
  heat.high = warps > 1 ? static_cast<double>(warps - 1) : 1.0;
  return encode_png(render(heat));
}

std::vector<Picture> make_pictures(const experiment::WhatIfResult& result, pictures::Colormap colormap) {
  if (result.maps.order.values.empty()) {
    return {};
  }
  const experiment::PixelCounts& counts = result.maps.counts;
  std::vector<Picture> list = {
      {"rays.png", "Rays that the pixel's threads traced.", ""},
      {"intersection-calls.png", "Calls of intersection shaders.", ""},
      {"any-hit-calls.png", "Calls of any-hit shaders.", ""},
      {"launch-order.png", "The place of the pixel's warp in the launch order (first slice of the launch).", ""}};
  const std::size_t first_row = list.size();
  std::set<std::string> used;
  for (const experiment::WhatIfRow& row : result.rows) {
    const std::string word = file_word(row.packing);
    std::string name = word;
    for (int i = 2; !used.insert(name).second; ++i) {
      name = fmt::format("{}-{}", word, i);
    }
    list.push_back(
        {fmt::format("efficiency-{}.png", name),
         fmt::format("SIMT efficiency under {}: {:.2f} % over the launch. A pixel shows the warp events that it "
                     "took part in, so full warps count for many pixels and lone lanes for one.",
                     row.packing, row.efficiency * 100),
         ""});
  }
  tbb::parallel_for(std::size_t{0}, list.size(), [&](std::size_t i) {
    if (i >= first_row) {
      const experiment::WhatIfRow& row = result.rows[i - first_row];
      list[i].png = efficiency_picture(row.efficiency_map, row.packing, row.efficiency, colormap);
    } else if (i == 0) {
      list[i].png = count_picture(counts.rays, "rays", colormap);
    } else if (i == 1) {
      list[i].png = count_picture(counts.intersections, "intersection shader calls", colormap);
    } else if (i == 2) {
      list[i].png = count_picture(counts.any_hits, "any-hit shader calls", colormap);
    } else {
      list[i].png = order_picture(result.maps.order, result.warps, result.configuration.order, colormap);
    }
  });
  return list;
}

}  // namespace rayreplay::report
