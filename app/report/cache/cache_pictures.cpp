#include "app/report/cache/cache_pictures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "app/report/cache/cache_table.hpp"
#include "app/report/export/table.hpp"
#include "base/count_text.hpp"

namespace rayreplay::report {
namespace {

using experiment::CacheResult;
using experiment::PixelMap;
using memory::kNever;
using memory::PixelSums;
using pictures::Colormap;
using pictures::HeatMap;

constexpr float kNoData = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint32_t kMaxMultiples = 36;  // windows with a picture of their own
constexpr std::uint32_t kGap = 4;            // values between two pictures

constexpr const char* kL1File = "l1-hit-rate.png";
constexpr const char* kL2File = "l2-hit-rate.png";
constexpr const char* kBytesFile = "dram-bytes.png";
constexpr const char* kOrderFile = "write-order.png";
constexpr const char* kWindowsFile = "write-windows.png";

/// Sums of a pixel over the slices of depth.
std::vector<PixelSums> flat(const CacheResult& result) {
  const std::size_t size = std::size_t{result.size.width} * result.size.height;
  std::vector<PixelSums> sums(size);
  const std::vector<PixelSums>& all = result.analysis.pixels;
  for (std::size_t i = 0; i < all.size(); ++i) {
    PixelSums& sum = sums[i % size];
    sum.requests.merge(all[i].requests);
    sum.bytes += all[i].bytes;
    sum.written = std::min(sum.written, all[i].written);
  }
  return sums;
}

template <class Value>
PixelMap make_map(const CacheResult& result, const std::vector<PixelSums>& sums, const Value& value) {
  PixelMap map{result.size.width, result.size.height, std::vector<float>(sums.size())};
  std::ranges::transform(sums, map.values.begin(),
                         [&](const PixelSums& pixel) { return static_cast<float>(value(pixel)); });
  return map;
}

Picture rate_picture(const CacheResult& result, const std::vector<PixelSums>& sums, std::size_t level,
                     Colormap colormap) {
  const auto requests = [level](const PixelSums& pixel) {
    return level == memory::kL1 ? pixel.requests.requests : pixel.requests.l2_requests;
  };
  const auto hits = [level](const PixelSums& pixel) {
    return from_fixed(level == memory::kL1 ? pixel.requests.l1_hits : pixel.requests.l2_hits);
  };
  const PixelMap map = make_map(result, sums, [&](const PixelSums& pixel) {
    return requests(pixel) == 0 ? static_cast<double>(kNoData)
                                : 100 * hits(pixel) / static_cast<double>(requests(pixel));
  });
  double all = 0, found = 0;
  for (const PixelSums& pixel : sums) {
    all += static_cast<double>(requests(pixel));
    found += hits(pixel);
  }
  HeatMap heat = heat_map(map, colormap);
  heat.title = fmt::format("{} hit rate per pixel", kLevelNames[level]);
  heat.note = fmt::format("all pixels: {:.2f} %", all > 0 ? 100 * found / all : 0.0);
  heat.unit = level == memory::kL1 ? "hits of the requests that the pixel's thread made (%)"
                                   : "hits of the requests that reached the L2 (%)";
  heat.high = 100;
  return {level == memory::kL1 ? kL1File : kL2File,
          level == memory::kL1 ? "L1 hit rate over the requests of the pixel's threads."
          : has_level(result, memory::kL1)
              ? "L2 hit rate over the requests that reached the L2. Grey: none did, the L1 had everything."
              : "L2 hit rate over the requests of the pixel's threads.",
          encode_png(render(heat))};
}

Picture bytes_picture(const CacheResult& result, const std::vector<PixelSums>& sums, Colormap colormap) {
  const PixelMap map = make_map(result, sums, [](const PixelSums& pixel) { return static_cast<double>(pixel.bytes); });
  const Spread spread = spread_of(map.values);
  HeatMap heat = heat_map(map, colormap);
  heat.high = std::max(1.0, spread.typical);
  heat.title = "Bytes from memory per pixel";
  heat.note = fmt::format("mean {:.1f}, largest {:.0f}{}", spread.mean, spread.largest,
                          spread.largest > heat.high ? " (beyond the scale's end)" : "");
  heat.unit = "share of its requests in what was fetched from DRAM (bytes)";
  return {kBytesFile, "Bytes fetched from DRAM, each fetch shared among the lanes that asked for it.",
          encode_png(render(heat))};
}

/// Place of each pixel in the order of frame-buffer writes; NaN: not written.
PixelMap write_ranks(const CacheResult& result, const std::vector<PixelSums>& sums, std::uint64_t& written) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < sums.size(); ++i) {
    if (sums[i].written != kNever) {
      order.push_back(i);
    }
  }
  // Lanes that wrote at once have distinct orders: no ties.
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return sums[i].written; });
  PixelMap map{result.size.width, result.size.height, std::vector<float>(sums.size(), kNoData)};
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    map.values[order[rank]] = static_cast<float>(rank);
  }
  written = order.size();
  return map;
}

/// One small picture a window, in rows: the pixels written in it, coloured by their order. Dark lines separate them.
PixelMap multiples(const CacheResult& result, const std::vector<PixelSums>& sums, const PixelMap& ranks,
                   std::uint32_t windows, std::uint32_t columns) {
  const std::uint32_t rows = (windows + columns - 1) / columns;
  PixelMap map;
  map.width = columns * (ranks.width + kGap) - kGap;
  map.height = rows * (ranks.height + kGap) - kGap;
  map.values.assign(std::size_t{map.width} * map.height, 0);
  for (std::uint32_t i = 0; i < rows * columns; ++i) {
    // After the last window: unused places.
    const memory::WindowSums window = i < windows ? result.analysis.windows[i] : memory::WindowSums{};
    const std::size_t left = std::size_t{i % columns} * (ranks.width + kGap);
    const std::size_t top = std::size_t{i / columns} * (ranks.height + kGap);
    for (std::size_t pixel = 0; pixel < sums.size(); ++pixel) {
      const std::uint64_t written = sums[pixel].written;
      const bool here = written >= window.first_request && written - window.first_request < window.requests;
      map.values[(top + pixel / ranks.width) * map.width + left + pixel % ranks.width] =
          here ? ranks.values[pixel] : kNoData;
    }
  }
  return map;
}

}  // namespace

bool is_one_row(const CacheResult& result) {
  return !result.analysis.pixels.empty() && result.size.height == 1;
}

const std::vector<std::string>& cache_picture_files() {
  static const std::vector<std::string> names = {kL1File, kL2File, kBytesFile, kOrderFile, kWindowsFile};
  return names;
}

std::vector<Picture> make_cache_pictures(const CacheResult& result, Colormap colormap) {
  if (result.analysis.pixels.empty() || result.size.height < 2) {
    return {};
  }
  const std::vector<PixelSums> sums = flat(result);
  std::vector<Picture> list;
  // An imported trace does not have the pixel of an access, except for writes to the frame buffer.
  if (result.scheduled) {
    for (std::size_t level = 0; level < memory::kLevels; ++level) {
      if (has_level(result, level)) {
        list.push_back(rate_picture(result, sums, level, colormap));
      }
    }
    list.push_back(bytes_picture(result, sums, colormap));
  }
  std::uint64_t written = 0;
  const PixelMap ranks = write_ranks(result, sums, written);
  if (written == 0) {
    return list;
  }
  const auto finish = [&](HeatMap heat) {
    heat.unit = fmt::format("place among {} written", counted(written, "pixel"));
    heat.high = written > 1 ? static_cast<double>(written - 1) : 1.0;
    return encode_png(render(heat));
  };
  HeatMap order = heat_map(ranks, Colormap::Plasma);
  order.title = "Order of frame-buffer writes";
  order.note = result.scheduled ? result.schedule : "as recorded";
  list.push_back({kOrderFile, "When each pixel was first written: dark early, bright late.", finish(order)});
  const std::size_t windows = result.analysis.windows.size();
  if (windows > 1 && windows <= kMaxMultiples) {
    const auto count = static_cast<std::uint32_t>(windows);
    const auto columns = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(count))));
    const PixelMap map = multiples(result, sums, ranks, count, columns);
    HeatMap heat = heat_map(map, Colormap::Plasma);
    heat.title = fmt::format("Pixels written in each of {} time windows", count);
    heat.note = fmt::format("row by row, {} to a row", columns);
    list.push_back(
        {kWindowsFile, "The pixels first written in each time window, earliest on the upper left.", finish(heat)});
  }
  return list;
}

}  // namespace rayreplay::report
