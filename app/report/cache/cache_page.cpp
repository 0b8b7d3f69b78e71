#include "app/report/cache/cache_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "app/report/cache/cache_curve.hpp"
#include "app/report/cache/cache_pictures.hpp"
#include "app/report/cache/cache_table.hpp"
#include "app/report/charts/svg_chart.hpp"
#include "app/report/page/html_parts.hpp"
#include "base/count_text.hpp"

namespace rayreplay::report {
namespace {

using experiment::CacheResult;
using memory::ReuseHistogram;

constexpr double kPercent = 100;
constexpr double kKibi = 1024;
constexpr std::size_t kCurvePoints = 200;
constexpr double kBinsPerOctave = 2;

// The table's columns, in two parts.
constexpr std::array<std::string_view, 6> kRateKeys = {"level", "kind",     "accesses",
                                                       "share", "hit_rate", "sector_hit_rate"};
constexpr std::array<std::string_view, 10> kMissKeys = {
    "level",    "kind",          "misses",          "cold",         "capacity",
    "conflict", "sector_misses", "delivered_bytes", "filled_bytes", "written_bytes"};

constexpr std::string_view kMeanings = R"html(<dl class="columns">
<dt>accesses</dt><dd>Look-ups of the cache: a warp instruction's transactions, one a line that its lanes touch together (or one a
lane and line, where coalescing is off). A request is one lane's use of a transaction.</dd>
<dt>hit rate</dt><dd>Over accesses. An access hits when its line is there with every sector that it touches.</dd>
<dt>by sector</dt><dd>Hit rate by sector, of loads: 1 &#8722; sectors fetched from below / sectors that loads touched. What a GPU's
counters call the sector hit rate.</dd>
<dt>cold, capacity, conflict</dt><dd>Misses of lines never touched before; misses that a fully associative cache of the same size
would have too (reuse distance of at least its lines); the rest.</dd>
<dt>sector misses</dt><dd>Misses that found the line but not all of its sectors.</dd>
<dt>delivered</dt><dd>Bytes of the sectors that accesses touched. From below: sectors that the cache fetched; to below: sectors
that it wrote through, around or back.</dd>
<dt>reuse distance</dt><dd>How many other lines were touched since the last access to the same line: an LRU cache of more lines than
that has it.</dd>
<dt>DRAM traffic</dt><dd>Estimated: what the L2 fetches and writes. Row buffers, refresh and compression are not modelled.</dd>
</dl>
)html";

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

std::string curve_chart(const CacheResult& result) {
  LineChart chart;
  chart.title = "Miss ratio against cache size";
  chart.x_title = "cache size (KiB)";
  chart.y_title = "miss ratio (%)";
  chart.caption =
      "Fully associative LRU caches of every size, from the reuse distances of one pass: L1s of each SM, and the L2 "
      "behind the L1s as they are. Rings mark the machine's sizes." +
      sampled_note(result) + error_note(result);
  chart.log_x = true;
  chart.y_high = kPercent;
  for (std::size_t level = 0; level < memory::kLevels; ++level) {
    const memory::LevelResult& found = result.analysis.levels[level];
    if (!has_level(result, level) || found.histogram.accesses() == 0) {
      continue;
    }
    ChartLine one{kLevelNames[level], level + 1, {}};
    const auto add = [&one](double size, const memory::SampledPoint& point) {
      one.points.push_back({size, kPercent * point.miss_ratio});
      one.spread.push_back(kPercent * std::max(point.error, 0.0));
    };
    for (const memory::SampledPoint& point : level_curve(result, level, kCurvePoints)) {
      add(static_cast<double>(point.lines) * line_kib(found), point);
    }
    // The curve is constant after its last point; it is extended to the machine's size.
    const double size = static_cast<double>(found.geometry.bytes) / kKibi;
    const std::optional<memory::SampledPoint> there = curve_at_size(result, level);
    if (there && !one.points.empty() && one.points.back().x < size) {
      add(size, *there);
    }
    if (there) {
      one.marked = {size, kPercent * there->miss_ratio};
    }
    if (!is_sampled(result)) {
      one.spread.clear();
    }
    chart.lines.push_back(std::move(one));
  }
  return chart.lines.empty() ? std::string() : to_svg(chart);
}

/// Counts by half octaves of distance + 1, in percent of all accesses; at each bin's middle.
std::vector<ChartPoint> half_octaves(const ReuseHistogram& histogram) {
  std::vector<double> counts;
  for (const ReuseHistogram::Bin& bin : histogram.bins()) {
    const double middle = (static_cast<double>(bin.first) + bin.last) / 2 + 1;
    const auto place = static_cast<std::size_t>(std::floor(kBinsPerOctave * std::log2(middle)));
    counts.resize(std::max(counts.size(), place + 1));
    counts[place] += static_cast<double>(bin.count);
  }
  std::vector<ChartPoint> points;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) {
      points.push_back({std::exp2((static_cast<double>(i) + 0.5) / kBinsPerOctave),
                        kPercent * counts[i] / static_cast<double>(histogram.accesses())});
    }
  }
  return points;
}

std::string histogram_chart(const CacheResult& result) {
  LineChart chart;
  chart.title = "Reuse distances";
  chart.x_title = "reuse distance + 1 (lines)";
  chart.y_title = "accesses (%)";
  chart.log_x = true;
  chart.log_y = true;
  chart.y_high = kPercent;
  std::string cold;
  for (std::size_t level = 0; level < memory::kLevels; ++level) {
    const ReuseHistogram histogram = adjusted_distances(result, level);
    if (!has_level(result, level) || histogram.accesses() == 0) {
      continue;
    }
    chart.lines.push_back({kLevelNames[level], level + 1, half_octaves(histogram)});
    cold += fmt::format("{}{}: {:.3g} %", cold.empty() ? "" : ", ", kLevelNames[level],
                        kPercent * static_cast<double>(histogram.cold()) / static_cast<double>(histogram.accesses()));
  }
  chart.caption = "Half an octave a point, share of all accesses. First touches are not shown (" + cold + ")." +
                  sampled_note(result);
  return chart.lines.empty() ? std::string() : to_svg(chart);
}

std::string window_chart(const CacheResult& result) {
  const auto& windows = result.analysis.windows;
  if (windows.size() < 2) {
    return "";
  }
  LineChart chart;
  chart.title = "Hit rate over time";
  chart.x_title = "time window";
  chart.y_title = "hit rate (%)";
  chart.caption = "Windows of equal numbers of requests; caches keep what they hold from one to the next.";
  chart.whole_x = true;
  chart.y_high = kPercent;
  for (std::size_t level = 0; level < memory::kLevels; ++level) {
    if (!has_level(result, level)) {
      continue;
    }
    ChartLine one{kLevelNames[level], level + 1, {}};
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const memory::LevelSums sums = all_kinds(windows[i].levels[level]);
      if (sums.accesses > 0) {
        one.points.push_back({static_cast<double>(i), kPercent * sums.hit_rate()});
      }
    }
    chart.lines.push_back(std::move(one));
  }
  return to_svg(chart);
}

std::string traffic_chart(const CacheResult& result) {
  const auto& windows = result.analysis.windows;
  if (windows.size() < 2) {
    return "";
  }
  LineChart chart;
  chart.title = "DRAM traffic over time";
  chart.x_title = "time window";
  chart.y_title = "estimated (KiB a window)";
  chart.caption = "What the last level fetched and wrote in each window.";
  chart.whole_x = true;
  ChartLine read{"read", 3, {}}, written{"written", 4, {}};
  for (std::size_t i = 0; i < windows.size(); ++i) {
    read.points.push_back({static_cast<double>(i), static_cast<double>(windows[i].dram_read_bytes) / kKibi});
    written.points.push_back({static_cast<double>(i), static_cast<double>(windows[i].dram_write_bytes) / kKibi});
  }
  chart.lines = {std::move(read), std::move(written)};
  return to_svg(chart);
}

/// The columns that have one of these keys.
output::Table only(const output::Table& table, std::span<const std::string_view> keys) {
  std::vector<std::size_t> places;
  output::Table result;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (std::ranges::find(keys, table.columns[i].key) != keys.end()) {
      places.push_back(i);
      result.columns.push_back(table.columns[i]);
      result.columns.back().detail = false;
    }
  }
  for (const auto& row : table.rows) {
    result.rows.emplace_back();
    std::ranges::transform(places, std::back_inserter(result.rows.back()), [&row](std::size_t i) { return row[i]; });
  }
  return result;
}

/// Where the accesses of each kind ended: L1 hit, L2 hit, miss.
std::string kinds_chart(const CacheResult& result) {
  StackChart chart;
  chart.title = "Hits and misses by kind of data";
  chart.x_title = "accesses (%)";
  chart.caption =
      "Share of all accesses of the level; misses split where reuse distances were taken." + sampled_note(result);
  chart.series = {{"hits"}, {"conflict misses"}, {"capacity misses"}, {"cold misses"}, {"misses, not split"}};
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
      const std::array parts = {from_fixed(sums.hits), known.conflict, known.capacity, known.cold, split ? 0 : misses};
      for (std::size_t i = 0; i < parts.size(); ++i) {
        chart.series[i].values.push_back(kPercent * parts[i] / all);
      }
    }
  }
  return to_svg(chart);
}

std::string sm_chart(const CacheResult& result) {
  LineChart chart;
  chart.title = "L1 hit rate by SM";
  chart.x_title = "SM";
  chart.y_title = "L1 hit rate (%)";
  chart.caption = "SMs without an access are left out.";
  chart.whole_x = true;
  chart.y_high = kPercent;
  ChartLine one{"L1", 1, {}};
  for (std::size_t sm = 0; sm < result.analysis.total.sms.size(); ++sm) {
    const memory::LevelSums& sums = result.analysis.total.sms[sm][memory::kL1];
    if (sums.accesses > 0) {
      one.points.push_back({static_cast<double>(sm), kPercent * sums.hit_rate()});
    }
  }
  if (!has_level(result, memory::kL1) || one.points.size() < 2) {
    return "";
  }
  chart.lines.push_back(std::move(one));
  return to_svg(chart);
}

std::string facts(const CacheContext& context) {
  const CacheResult& result = context.result;
  std::string html = "<dl class=\"facts\">\n";
  html += fact("trace", context.trace_file);
  html += fact("trace hash", result.trace_hash);
  html += fact("application",
               result.application + (result.application.empty() || result.device.empty() ? "" : ", ") + result.device);
  if (context.launch != nullptr) {
    const trace::Launch& launch = context.launch->trace.launches[context.launch->configuration.launch];
    html +=
        fact("launch", fmt::format("{}: {} x {} x {}, {}, {}", context.launch->configuration.launch, launch.size.width,
                                   launch.size.height, launch.size.depth, counted(launch.size.threads(), "thread"),
                                   counted(launch.data.rays.size(), "ray")));
    html += fact("warps",
                 fmt::format("{}, order {}", counted(result.warp_size, "lane"), context.launch->configuration.order));
  }
  for (const auto& [name, value] : cache_facts(result)) {
    html += fact(name, value);
  }
  html += fact("computed by", fmt::format("rayreplay {} on CPU", RAYREPLAY_VERSION));
  if (context.launch != nullptr) {
    for (const std::string& missing : context.launch->trace.header.not_captured) {
      html += fact("not captured", missing);
    }
  }
  return html + "</dl>\n";
}

std::string sentences(const CacheResult& result) {
  std::string html;
  std::string rest = cache_sentences(result);
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    html += "<p>" + escape_html(rest.substr(0, end)) + "</p>\n";
    rest = rest.substr(end + 1);
  }
  return html;
}

}  // namespace

std::string to_html(const CachePage& page) {
  const CacheResult& result = page.context.result;
  std::string html = html_start("Caches: " + page.context.trace_file, RAYREPLAY_VERSION);
  html += "<h1>Where do the bytes come from?</h1>\n";
  html += result.scheduled
              ? "<p class=\"soft\">One launch, its rays traced again in warps on a modelled machine's SMs: "
                "who touched which line when, and what each cache made of it.</p>\n"
              : "<p class=\"soft\">A memory trace of another tool, in the order in which it was recorded, "
                "through a modelled machine's caches.</p>\n";
  html += facts(page.context);
  const output::Table rows = for_people(cache_rows(result));
  html += "<h2>Hit rates by level and kind of data</h2>\n" + html_table(only(rows, kRateKeys), "hit_rate");
  html += sentences(result);
  html += "<h2>Misses and traffic</h2>\n" + html_table(only(rows, kMissKeys), "");
  html += "<h2>Plots</h2>\n<div class=\"charts\">\n" + curve_chart(result) + histogram_chart(result) +
          kinds_chart(result) + window_chart(result) + traffic_chart(result) + sm_chart(result) + "</div>\n";
  if (!page.pictures.empty()) {
    html += "<h2>Per pixel</h2>\n<div class=\"pictures\">\n";
    for (const Picture& picture : page.pictures) {
      html += figure(picture.file, picture.caption);
    }
    html += "</div>\n";
  } else if (is_one_row(result)) {
    html += fmt::format("<h2>Per pixel</h2>\n<p class=\"soft\">There are {}.</p>\n", kNoPicturesOfOneRow);
  }
  if (result.analysis.windows.size() > 1) {
    html += "<h2>Time windows</h2>\n" + html_table(cache_windows(result), "");
  }
  html += "<h2>What the words mean</h2>\n";
  html += kMeanings;
  html +=
      "<h2>Configuration</h2>\n<p>Resolved: every key with its value. <code>rayreplay cache --config "
      "config.toml</code>,"
      " run in this folder with the trace, computes this page's numbers again.</p>\n";
  html += "<pre>" + escape_html(page.configuration_toml) + "</pre>\n";
  html += "<h2>Machine</h2>\n<pre>" + escape_html(machine::to_toml(result.machine)) + "</pre>\n";
  return html + html_end();
}

}  // namespace rayreplay::report
