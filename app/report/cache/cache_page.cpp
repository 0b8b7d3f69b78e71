#include "app/report/cache/cache_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "app/report/cache/cache_curve.hpp"
#include "app/report/cache/cache_evictions.hpp"
#include "app/report/cache/cache_histograms.hpp"
#include "app/report/cache/cache_pictures.hpp"
#include "app/report/cache/cache_table.hpp"
#include "app/report/cache/cache_time.hpp"
#include "app/report/memory/memory_timeline.hpp"
#include "base/count_text.hpp"

namespace rayreplay::report {
namespace {

using experiment::CacheResult;
using memory::ReuseHistogram;
using pictures::BarPlot;
using pictures::Chart;
using pictures::fit_axes;
using pictures::Plot;
using pictures::PlotPoint;
using pictures::PlotSeries;

constexpr double kKibi = 1024;
constexpr std::size_t kCurvePoints = 200;

// The table's columns, in two parts.
constexpr std::array<std::string_view, 6> kRateKeys = {"level", "kind",     "accesses",
                                                       "share", "hit_rate", "sector_hit_rate"};
constexpr std::array<std::string_view, 11> kMissKeys = {"level",           "kind",         "misses",       "cold",
                                                        "stored_only",     "new_sectors",  "capacity",     "conflict",
                                                        "delivered_bytes", "filled_bytes", "written_bytes"};

PlotSeries line_of(const std::string& name, std::size_t color) {
  return {.name = name, .color = color, .dots = false};
}

/// Adds a chart with a line or more.
void add_chart(std::vector<Chart>& charts, Plot plot, const pictures::AxisFit& fit) {
  if (!plot.series.empty()) {
    fit_axes(plot, fit);
    charts.emplace_back(std::move(plot));
  }
}

double line_kib(const memory::LevelResult& level) {
  return level.geometry.line_bytes / kKibi;
}

std::string sampled_note(const CacheResult& result) {
  return is_sampled(result) ? fmt::format(" Estimated from one line in {:.4g}.", result.analysis.reuse_weight) : "";
}

/// The bands' meaning, and the standard errors at the rings.
std::string error_note(const CacheResult& result) {
  const std::string sizes = sampled_sizes_text(result);
  return sizes.empty() ? "" : " Bands are one standard error of the sample to each side; at the rings: " + sizes + ".";
}

void add_curves(std::vector<Chart>& charts, const CacheResult& result) {
  Plot plot{.title = "Miss ratio against cache size",
            .note =
                "Fully associative LRU caches of every size, from the reuse distances of one pass: L1s of each SM, "
                "and the L2 behind the L1s as they are. Rings mark the machine's sizes." +
                sampled_note(result) + error_note(result),
            .x = {.title = "cache size (KiB)", .logarithmic = true},
            .y = {.title = "miss ratio (%)"}};
  for (std::size_t level = 0; level < memory::kLevels; ++level) {
    const memory::LevelResult& found = result.analysis.levels[level];
    if (!has_level(result, level) || found.histogram.accesses() == 0) {
      continue;
    }
    PlotSeries one = line_of(kLevelNames[level], level + 1);
    const auto add = [&one](double size, const memory::SampledPoint& point) {
      one.points.push_back({size, 100 * point.miss_ratio});
      one.spread.push_back(100 * std::max(point.error, 0.0));
    };
    for (const memory::SampledPoint& point : level_curve(result, level, kCurvePoints)) {
      add(static_cast<double>(point.lines) * line_kib(found), point);
    }
    // The curve is constant after its last point; it is extended to the machine's size.
    const double size = static_cast<double>(found.geometry.bytes) / kKibi;
    if (const std::optional<memory::SampledPoint> there = curve_at_size(result, level)) {
      if (!one.points.empty() && one.points.back().x < size) {
        add(size, *there);
      }
      one.ring = {size, 100 * there->miss_ratio};
    }
    if (!is_sampled(result)) {
      one.spread.clear();
    }
    plot.series.push_back(std::move(one));
  }
  add_chart(charts, std::move(plot), {.high_y = 100});
}

void add_distances(std::vector<Chart>& charts, const CacheResult& result) {
  Plot plot{.title = "Reuse distances",
            .x = {.title = "reuse distance + 1 (lines)", .logarithmic = true},
            .y = {.title = "accesses (%)", .logarithmic = true}};
  std::string cold;
  for (std::size_t level = 0; level < memory::kLevels; ++level) {
    const ReuseHistogram histogram = adjusted_distances(result, level);
    if (!has_level(result, level) || histogram.accesses() == 0) {
      continue;
    }
    PlotSeries one = line_of(kLevelNames[level], level + 1);
    one.points = half_octaves(histogram, histogram.accesses());
    plot.series.push_back(std::move(one));
    cold += fmt::format("{}{}: {:.3g} %", cold.empty() ? "" : ", ", kLevelNames[level],
                        100 * static_cast<double>(histogram.cold()) / static_cast<double>(histogram.accesses()));
  }
  plot.note = "Half an octave a point, share of all accesses. First touches are not shown (" + cold + ")." +
              sampled_note(result);
  add_chart(charts, std::move(plot), {.high_y = 100});
}

/// Hit rates and traffic over time.
void add_windows(std::vector<Chart>& charts, const CacheResult& result) {
  const auto& windows = result.analysis.windows;
  if (windows.size() < 2) {
    return;
  }
  Plot rates{.title = "Hit rate over time",
             .note = "Windows of equal numbers of requests; caches keep what they hold from one to the next.",
             .x = {.title = "time window"},
             .y = {.title = "hit rate (%)"}};
  for (std::size_t level = 0; level < memory::kLevels; ++level) {
    PlotSeries one = line_of(kLevelNames[level], level + 1);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const memory::LevelSums sums = all_kinds(windows[i].levels[level]);
      if (sums.accesses > 0) {
        one.points.push_back({static_cast<double>(i), 100 * sums.hit_rate()});
      }
    }
    if (has_level(result, level)) {
      rates.series.push_back(std::move(one));
    }
  }
  add_chart(charts, std::move(rates), {.whole_x = true, .high_y = 100});
  Plot traffic{.title = "DRAM traffic over time",
               .note = "What the last level fetched and wrote in each window.",
               .x = {.title = "time window"},
               .y = {.title = "estimated (KiB a window)"},
               .series = {line_of("read", 3), line_of("written", 4)}};
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto x = static_cast<double>(i);
    traffic.series[0].points.push_back({x, static_cast<double>(windows[i].dram_read_bytes) / kKibi});
    traffic.series[1].points.push_back({x, static_cast<double>(windows[i].dram_write_bytes) / kKibi});
  }
  add_chart(charts, std::move(traffic), {.whole_x = true});
}

/// Hits and classes of misses of each kind of data, as shares of the level's accesses.
BarPlot kinds_chart(const CacheResult& result) {
  BarPlot chart{.title = "Hits and misses by kind of data",
                .note = "Share of all accesses of the level; misses split where reuse distances were taken." +
                        sampled_note(result),
                .value_title = "accesses (%)",
                .series = {{"hits", 1},
                           {"conflict misses", 7},
                           {"capacity misses", 2},
                           {"misses of new sectors", 4},
                           {"misses of lines only stored to", 3},
                           {"first accesses", 0},
                           {"misses, not split", 5}},
                .stacked = true};
  for (std::size_t level = 0; level < memory::kLevels; ++level) {
    if (!has_level(result, level)) {
      continue;
    }
    const memory::KindSums& kinds = result.analysis.total.levels[level];
    const double all = static_cast<double>(std::max<std::uint64_t>(all_kinds(kinds).accesses, 1));
    for (std::size_t kind = 0; kind < memory::kDataKinds; ++kind) {
      const memory::LevelSums& sums = kinds[kind];
      if (sums.accesses == 0) {
        continue;
      }
      chart.categories.push_back(fmt::format("{} {}", kLevelNames[level], memory::kDataKindNames[kind]));
      const double misses = static_cast<double>(sums.accesses) - from_fixed(sums.hits);
      const std::optional<MissSplit> split = split_of(result, level, sums);
      const MissSplit known = split.value_or(MissSplit{});
      const std::array parts = {from_fixed(sums.hits), known.conflict, known.capacity,      known.new_sectors,
                                known.stored_only,     known.cold,     split ? 0.0 : misses};
      for (std::size_t i = 0; i < parts.size(); ++i) {
        chart.series[i].values.push_back(100 * parts[i] / all);
      }
    }
  }
  return chart;
}

void add_sms(std::vector<Chart>& charts, const CacheResult& result) {
  Plot plot{.title = "L1 hit rate by SM",
            .note = "SMs without an access are left out.",
            .x = {.title = "SM"},
            .y = {.title = "L1 hit rate (%)"}};
  PlotSeries one = line_of("L1", 1);
  for (std::size_t sm = 0; sm < result.analysis.total.sms.size(); ++sm) {
    const memory::LevelSums& sums = result.analysis.total.sms[sm][memory::kL1];
    if (sums.accesses > 0) {
      one.points.push_back({static_cast<double>(sm), 100 * sums.hit_rate()});
    }
  }
  if (has_level(result, memory::kL1) && one.points.size() > 1) {
    plot.series.push_back(std::move(one));
  }
  add_chart(charts, std::move(plot), {.whole_x = true, .high_y = 100});
}

Facts facts_of(const CacheContext& context) {
  const CacheResult& result = context.result;
  Facts facts = cache_facts(result);
  if (context.launch == nullptr) {
    facts.insert(
        facts.begin(),
        {{"trace", context.trace_file}, {"trace hash", result.trace_hash}, {"application", application_text(result)}});
    facts.emplace_back("computed by", fmt::format("rayreplay {} on CPU", RAYREPLAY_VERSION));
    return facts;
  }
  const experiment::Resolved& resolved = context.launch->configuration;
  const trace::Launch& launch = context.launch->trace.launches[resolved.launch];
  facts.insert(facts.begin(),
               {"warps", fmt::format("{}, order {}", counted(result.warp_size, "lane"), resolved.order)});
  return launch_facts(
      *context.launch,
      fmt::format("{}: {} x {} x {}, {}, {}", resolved.launch, launch.size.width, launch.size.height, launch.size.depth,
                  counted(launch.size.threads(), "thread"), counted(launch.data.rays.size(), "ray")),
      facts);
}

}  // namespace

std::string to_html(const CachePage& page) {
  const CacheResult& result = page.context.result;
  PageData data;
  data["title"] = "Caches: " + page.context.trace_file;
  data["scheduled"] = result.scheduled;
  data["facts"] = page_facts(facts_of(page.context));
  const output::Table rows = for_people(cache_rows(result));
  data["rates"] = page_table(output::only(rows, kRateKeys), "hit_rate");
  data["misses"] = page_table(output::only(rows, kMissKeys));
  std::istringstream sentences(cache_sentences(result));
  for (std::string line; std::getline(sentences, line);) {
    data["sentences"].push_back(line);
  }
  std::vector<Chart> charts;
  add_curves(charts, result);
  add_distances(charts, result);
  charts.emplace_back(kinds_chart(result));
  add_windows(charts, result);
  add_sms(charts, result);
  if (has_time(result)) {
    charts.emplace_back(cache_time_chart(result));
    data["time_stages"] = page_table(cache_time_stages_met(result));
    data["time_sms"] = page_table(cache_time_sms(result));
  }
  const std::vector<HistogramPart> parts = histogram_parts(result, page.context.launches);
  for (std::vector<Chart> more :
       {histogram_charts(parts), eviction_charts(result), group_charts(page.context.groups)}) {
    std::ranges::move(more, std::back_inserter(charts));
  }
  if (page.context.history != nullptr) {
    std::ranges::move(history_charts({{"", page.context.history}}, result.machine), std::back_inserter(charts));
  }
  data["charts"] = page_charts(charts);
  data["drawn"] = page_figures(page.pictures);
  data["not_drawn"] = page.pictures.empty() && is_one_row(result) ? kNoPicturesOfOneRow : "";
  if (result.analysis.windows.size() > 1) {
    data["windows"] = page_table(cache_windows(result));
  }
  if (!result.guesses.empty()) {
    data["guesses"] = page_table(cache_guesses(result));
  }
  if (!parts.empty()) {
    data["histograms"] = page_table(histogram_table(result, parts));
  }
  if (!page.context.groups.empty()) {
    data["groups"] = page_table(group_table(page.context.groups));
  }
  if (result.options.evictions) {
    data["evictions"] = page_table(eviction_table(result));
  }
  data["command"] = "cache";
  data["configuration"] = page.configuration_toml;
  data["machine"] = machine::to_toml(result.machine);
  return make_page("cache", std::move(data));
}

}  // namespace rayreplay::report
