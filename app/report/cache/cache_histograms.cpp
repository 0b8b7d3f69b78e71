#include "app/report/cache/cache_histograms.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/report/cache/cache_table.hpp"

namespace rayreplay::report {
namespace {

using experiment::CacheResult;
using memory::ReuseHistogram;
using nlohmann::ordered_json;
using output::Cell;
using output::Show;

constexpr double kBinsPerOctave = 2;
constexpr std::size_t kMostLines = 8;  // of a chart: one for each colour
constexpr const char* kWhole = "all";

/// The distance that this share of the repeated accesses do not exceed (the upper end of its bin).
std::optional<std::uint64_t> quantile(const ReuseHistogram& histogram, double share) {
  const std::uint64_t repeated = histogram.accesses() - histogram.cold();
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(repeated)));
  std::uint64_t below = 0;
  for (const ReuseHistogram::Bin& bin : histogram.bins()) {
    below += bin.count;
    if (below >= wanted) {
      return bin.last;
    }
  }
  return std::nullopt;
}

double ratio_of(std::uint64_t part, std::uint64_t all) {
  return static_cast<double>(part) / static_cast<double>(all);
}

/// The parts to draw, in their order.
std::vector<const HistogramPart*> drawn(std::vector<const HistogramPart*> parts, bool evenly) {
  if (parts.size() <= kMostLines) {
    return parts;
  }
  std::vector<const HistogramPart*> chosen;
  if (evenly) {
    for (std::size_t i = 0; i < kMostLines; ++i) {
      chosen.push_back(parts[i * (parts.size() - 1) / (kMostLines - 1)]);
    }
    return chosen;
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return parts[i]->histogram.accesses(); });
  order.resize(kMostLines);
  std::ranges::sort(order);
  std::ranges::transform(order, std::back_inserter(chosen), [&](std::size_t i) { return parts[i]; });
  return chosen;
}

}  // namespace

std::vector<HistogramPart> histogram_parts(const CacheResult& result, const std::vector<LaunchDistances>& launches) {
  std::vector<HistogramPart> parts;
  for (std::size_t level = 0; level < memory::kLevels; ++level) {
    if (!has_level(result, level)) {
      continue;
    }
    const memory::LevelResult& found = result.analysis.levels[level];
    const auto add = [&](const char* by, std::string part, const ReuseHistogram& histogram) {
      if (part == kWhole || histogram.accesses() + histogram.not_sampled() > 0) {
        parts.push_back({level, by, std::move(part), histogram});
      }
    };
    for (std::size_t kind = 0; kind < found.by_kind.size(); ++kind) {
      add("kind", std::string(memory::kDataKindNames[kind]), found.by_kind[kind]);
    }
    if (!found.by_kind.empty()) {
      add("kind", kWhole, found.histogram);
    }
    for (std::size_t window = 0; window < found.by_window.size(); ++window) {
      add("window", std::to_string(window), found.by_window[window]);
    }
    if (!found.by_window.empty()) {
      add("window", kWhole, found.histogram);
    }
    ReuseHistogram all;
    for (const LaunchDistances& launch : launches) {
      add("launch", std::to_string(launch.launch), launch.levels[level]);
      all.merge(launch.levels[level]);
    }
    if (!launches.empty()) {
      add("launch", kWhole, all);
    }
  }
  return parts;
}

output::Table histogram_table(const CacheResult& result, const std::vector<HistogramPart>& parts) {
  output::Table table;
  table.columns = {{"level", "level"},
                   {"by", "by"},
                   {"part", "part"},
                   {"accesses", "accesses"},
                   {"cold", "first touches"},
                   {"cold_share", "share", Show::Percent, 2},
                   {"not_sampled", "not sampled", Show::Plain, 0, true},
                   {"median_distance", "median distance"},
                   {"distance_90", "90 % within"},
                   {"within_lines", "below the cache's lines", Show::Percent, 2}};
  for (const HistogramPart& part : parts) {
    const ReuseHistogram& histogram = part.histogram;
    const std::uint64_t accesses = histogram.accesses();
    const std::uint64_t lines = result.analysis.levels[part.level].geometry.lines();
    const auto distance = [&](double share) {
      const std::optional<std::uint64_t> found = quantile(histogram, share);
      return found ? Cell{*found} : Cell{};
    };
    table.rows.push_back({std::string(kLevelNames[part.level]), part.by, part.part, accesses, histogram.cold(),
                          accesses == 0 ? Cell{} : Cell{ratio_of(histogram.cold(), accesses)}, histogram.not_sampled(),
                          distance(0.5), distance(0.9),
                          accesses == 0 ? Cell{} : Cell{1 - ratio_of(histogram.misses(lines), accesses)}});
  }
  return table;
}

output::Table histogram_bins(const std::vector<HistogramPart>& parts) {
  output::Table table;
  table.columns = {{"level", "level"}, {"by", "by"},     {"part", "part"},        {"sort", "sort"},
                   {"first", "first"}, {"last", "last"}, {"accesses", "accesses"}};
  for (const HistogramPart& part : parts) {
    const auto add = [&](const char* sort, Cell first, Cell last, std::uint64_t accesses) {
      if (accesses > 0) {
        table.rows.push_back({std::string(kLevelNames[part.level]), part.by, part.part, std::string(sort),
                              std::move(first), std::move(last), accesses});
      }
    };
    for (const ReuseHistogram::Bin& bin : part.histogram.bins()) {
      add("distance", std::uint64_t{bin.first}, std::uint64_t{bin.last}, bin.count);
    }
    add("cold", Cell{}, Cell{}, part.histogram.cold());
    add("not-sampled", Cell{}, Cell{}, part.histogram.not_sampled());
  }
  return table;
}

ordered_json bins_json(const ReuseHistogram& histogram) {
  ordered_json bins = ordered_json::array();
  for (const ReuseHistogram::Bin& bin : histogram.bins()) {
    bins.push_back({bin.first, bin.last, bin.count});
  }
  return {{"cold", histogram.cold()}, {"not_sampled", histogram.not_sampled()}, {"bins", std::move(bins)}};
}

ordered_json histograms_json(const CacheResult& result, const std::vector<HistogramPart>& parts) {
  ordered_json rows = to_json(histogram_table(result, parts));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    rows[i]["reuse_distances"] = bins_json(parts[i].histogram);
  }
  return rows;
}

std::vector<pictures::PlotPoint> half_octaves(const ReuseHistogram& histogram, std::uint64_t of) {
  std::vector<double> counts;
  for (const ReuseHistogram::Bin& bin : histogram.bins()) {
    const double middle = (static_cast<double>(bin.first) + bin.last) / 2 + 1;
    const auto place = static_cast<std::size_t>(std::floor(kBinsPerOctave * std::log2(middle)));
    counts.resize(std::max(counts.size(), place + 1));
    counts[place] += static_cast<double>(bin.count);
  }
  std::vector<pictures::PlotPoint> points;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) {
      points.push_back(
          {std::exp2((static_cast<double>(i) + 0.5) / kBinsPerOctave), 100 * counts[i] / static_cast<double>(of)});
    }
  }
  return points;
}

std::vector<pictures::Chart> histogram_charts(const std::vector<HistogramPart>& parts) {
  std::vector<pictures::Chart> charts;
  for (std::size_t level = 0; level < memory::kLevels; ++level) {
    for (const char* by : {"kind", "window", "launch"}) {
      std::vector<const HistogramPart*> all;
      for (const HistogramPart& part : parts) {
        if (part.level == level && part.by == by && part.part != kWhole && part.histogram.accesses() > 0) {
          all.push_back(&part);
        }
      }
      const std::vector<const HistogramPart*> some = drawn(all, std::string_view(by) != "kind");
      pictures::Plot plot{.title = fmt::format("{} reuse distances by {}", kLevelNames[level], by),
                          .note = "Half an octave a point, share of the part's accesses; first touches are not shown.",
                          .x = {.title = "reuse distance + 1 (lines)", .logarithmic = true},
                          .y = {.title = "accesses of the part (%)", .logarithmic = true}};
      plot.note += some.size() < all.size() ? fmt::format(" {} of {} parts.", some.size(), all.size()) : "";
      for (std::size_t i = 0; i < some.size(); ++i) {
        const ReuseHistogram& histogram = some[i]->histogram;
        pictures::PlotSeries one{
            .name = std::string_view(by) == "kind" ? some[i]->part : fmt::format("{} {}", by, some[i]->part),
            .color = i,
            .points = half_octaves(histogram, histogram.accesses()),
            .dots = false};
        if (!one.points.empty()) {
          plot.series.push_back(std::move(one));
        }
      }
      if (!plot.series.empty()) {
        pictures::fit_axes(plot, {.high_y = 100});
        charts.emplace_back(std::move(plot));
      }
    }
  }
  return charts;
}

}  // namespace rayreplay::report
