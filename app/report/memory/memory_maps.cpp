#include "app/report/memory/memory_maps.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "app/report/charts/heatmap.hpp"
#include "app/report/packings/launch_pictures.hpp"
#include "sim/memory/results/last_accesses.hpp"

namespace rayreplay::report {
namespace {

using experiment::PixelMap;

constexpr std::string_view kStart = "last-access-";
constexpr std::string_view kChange = "change-";
constexpr std::string_view kEnd = ".png";

std::string file_of(const RowMap& map, std::string_view kind) {
  std::string word = map.name;
  std::ranges::replace_if(
      word, [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  return fmt::format("{}{}{}-{}{}", kStart, kind, map.row, word, kEnd);
}

PixelMap change_of(const PixelMap& baseline, const PixelMap& variant) {
  PixelMap change = variant;
  for (std::size_t pixel = 0; pixel < change.values.size(); ++pixel) {
    change.values[pixel] -= baseline.values[pixel];  // NaN where either has none
  }
  return change;
}

/// The size that 99.9 % of the changes do not exceed.
double typical_size(const std::vector<PixelMap>& changes) {
  std::vector<float> sizes;
  for (const PixelMap& change : changes) {
    std::ranges::transform(change.values, std::back_inserter(sizes), [](float value) { return std::abs(value); });
  }
  const Spread spread = spread_of(sizes);
  return spread.typical > 0 ? spread.typical : std::max(spread.largest, 1.0);
}

}  // namespace

PixelMap last_access_map(trace::LaunchSize size, std::span<const std::uint64_t> last, double clock_mhz) {
  const std::size_t pixels = std::size_t{size.width} * size.height;
  PixelMap map{size.width, size.height, std::vector<float>(pixels, std::numeric_limits<float>::quiet_NaN())};
  for (std::size_t thread = 0; thread < last.size(); ++thread) {
    if (last[thread] != memory::LastAccesses::kNoAccess) {
      float& value = map.values[thread % pixels];
      const auto time = static_cast<float>(static_cast<double>(last[thread]) / clock_mhz);
      value = std::isnan(value) ? time : std::max(value, time);
    }
  }
  return map;
}

std::vector<Picture> memory_pictures(const std::vector<RowMap>& maps, pictures::Colormap colormap) {
  std::vector<Picture> list;
  if (maps.empty() || maps.front().last.height < 2) {
    return list;
  }
  double latest = 0;
  std::vector<PixelMap> changes;
  for (const RowMap& map : maps) {
    latest = std::max(latest, spread_of(map.last.values).largest);
    changes.push_back(change_of(maps.front().last, map.last));
  }
  changes.erase(changes.begin());
  for (const RowMap& map : maps) {
    pictures::HeatMap heat = heat_map(map.last, colormap);
    heat.title = "Last access of each pixel: " + map.name;
    heat.note = fmt::format("launch: {:.3f} ms, mean of the pixels {:.1f} microseconds", map.milliseconds,
                            spread_of(map.last.values).mean);
    heat.unit = "time of the last access of the pixel's thread (microseconds)";
    heat.high = latest > 0 ? latest : 1;
    list.push_back({file_of(map, ""), "Time of the last access of each pixel's thread: " + map.name + ".",
                    encode_png(render(heat))});
  }
  const double size = changes.empty() ? 1 : typical_size(changes);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const RowMap& map = maps[i + 1];
    std::size_t earlier = 0, all = 0;
    for (const float change : changes[i].values) {
      earlier += change < 0 ? 1U : 0U;
      all += std::isnan(change) ? 0U : 1U;
    }
    pictures::HeatMap heat = heat_map(changes[i], pictures::Colormap::BlueRed);
    heat.title = fmt::format("Change of the last access: {}", map.name);
    heat.note =
        fmt::format("{:.1f} % of the pixels end earlier than with {}",
                    all == 0 ? 0.0 : 100 * static_cast<double>(earlier) / static_cast<double>(all), maps.front().name);
    heat.unit = "later than in the baseline (microseconds; below 0: earlier)";
    heat.low = -size;
    heat.high = size;
    list.push_back({file_of(map, kChange),
                    fmt::format("Change of that time against {}: {}. Blue: earlier, white: no change, red: later.",
                                maps.front().name, map.name),
                    encode_png(render(heat))});
  }
  return list;
}

bool is_memory_picture(std::string_view file) {
  if (file.size() <= kStart.size() + kEnd.size() || !file.starts_with(kStart) || !file.ends_with(kEnd)) {
    return false;
  }
  file.remove_prefix(kStart.size());
  file.remove_suffix(kEnd.size());
  return std::ranges::all_of(file, [](unsigned char c) { return c == '-' || std::isalnum(c) != 0; });
}

}  // namespace rayreplay::report
