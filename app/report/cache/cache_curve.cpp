#include "app/report/cache/cache_curve.hpp"

#include <fmt/format.h>

#include "app/report/cache/cache_table.hpp"

namespace rayreplay::report {
namespace {

using experiment::CacheResult;
using memory::ReuseHistogram;
using memory::SampledPoint;

constexpr double kMinSampledLines = 10;  // smallest size that a sample resolves

}  // namespace

bool is_sampled(const CacheResult& result) {
  return result.analysis.reuse_weight != 1;
}

ReuseHistogram adjusted_distances(const CacheResult& result, std::size_t level) {
  const ReuseHistogram& found = result.analysis.levels[level].histogram;
  // Without a sampled access there is no estimate; the adjustment would count all as hits.
  return is_sampled(result) && found.accesses() > 0 ? adjusted(found, result.analysis.reuse_weight) : found;
}

std::vector<SampledPoint> level_curve(const CacheResult& result, std::size_t level, std::size_t points) {
  const memory::LevelResult& found = result.analysis.levels[level];
  if (is_sampled(result)) {
    return found.histogram.accesses() == 0
               ? std::vector<SampledPoint>()
               : sampled_miss_ratio_curve(found.histogram, found.parts, result.analysis.reuse_weight, points);
  }
  std::vector<SampledPoint> curve;
  for (const memory::CurvePoint& point : miss_ratio_curve(found.histogram, points)) {
    curve.push_back({point.lines, point.miss_ratio, 0});
  }
  return curve;
}

std::optional<SampledPoint> curve_at_size(const CacheResult& result, std::size_t level) {
  const memory::LevelResult& found = result.analysis.levels[level];
  const ReuseHistogram distances = adjusted_distances(result, level);
  if (!has_level(result, level) || distances.accesses() == 0) {
    return std::nullopt;
  }
  const std::uint64_t lines = found.geometry.lines();
  return SampledPoint{
      lines, static_cast<double>(distances.misses(lines)) / static_cast<double>(distances.accesses()),
      is_sampled(result) ? memory::standard_error(found.parts, result.analysis.reuse_weight, lines) : 0.0};
}

bool is_resolved(const CacheResult& result, std::uint64_t lines) {
  return !is_sampled(result) || static_cast<double>(lines) >= kMinSampledLines * result.analysis.reuse_weight;
}

std::string sampled_sizes_text(const CacheResult& result) {
  std::string text;
  for (std::size_t level = 0; level < memory::kLevels && is_sampled(result); ++level) {
    const std::optional<SampledPoint> point = curve_at_size(result, level);
    if (!point) {
      continue;
    }
    const std::string error = point->error < 0 ? "" : fmt::format(" ± {:.2f}", 100 * point->error);
    text +=
        fmt::format("{}{} {:.2f}{} %{}", text.empty() ? "" : ", ", kLevelNames[level], 100 * point->miss_ratio, error,
                    is_resolved(result, point->lines) ? "" : " (too small for the rate: below 10 / rate lines)");
  }
  return text;
}

}  // namespace rayreplay::report
