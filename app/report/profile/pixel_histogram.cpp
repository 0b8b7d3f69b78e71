#include "app/report/profile/pixel_histogram.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "capture/profile/thread_instructions.hpp"

namespace rayreplay::report {
namespace {

constexpr double kThreadPercent = 100;
constexpr std::size_t kWidths = 65;  // bits of a number

LaunchHistogram histogram_of(const std::vector<std::optional<std::uint64_t>>& threads) {
  LaunchHistogram histogram;
  std::array<std::uint64_t, kWidths> by_width{};
  double sum = 0;
  for (const std::optional<std::uint64_t>& thread : threads) {
    if (!thread) {
      ++histogram.unknown;
      continue;
    }
    ++by_width.at(static_cast<std::size_t>(std::bit_width(*thread)));
    ++histogram.threads;
    sum += static_cast<double>(*thread);
    histogram.most = std::max(histogram.most, *thread);
  }
  histogram.mean = histogram.threads == 0 ? 0 : sum / static_cast<double>(histogram.threads);
  const auto has_threads = [](std::uint64_t count) { return count != 0; };
  const auto first = std::ranges::find_if(by_width, has_threads);
  for (auto width = static_cast<std::size_t>(first - by_width.begin()); width < kWidths; ++width) {
    // Ends behind the last range with threads.
    if (std::none_of(by_width.begin() + static_cast<std::ptrdiff_t>(width), by_width.end(), has_threads)) {
      break;
    }
    const std::uint64_t low = width == 0 ? 0 : std::uint64_t{1} << (width - 1);
    histogram.ranges.push_back({low, width + 1 == kWidths ? 0 : std::uint64_t{1} << width, by_width.at(width)});
  }
  return histogram;
}

std::string range_name(std::uint64_t low) {
  if (low <= 1) {
    return std::to_string(low);
  }
  return fmt::format("{} to {}", with_separators(low), with_separators(low + (low - 1)));
}

pictures::BarPlot chart_of(const std::vector<LaunchHistogram>& histograms, bool blocks) {
  std::vector<const LaunchHistogram*> shown;
  std::uint64_t low = std::numeric_limits<std::uint64_t>::max(), high = 0;
  std::size_t all = 0;
  for (const LaunchHistogram& of : histograms) {
    if (of.blocks != blocks || of.ranges.empty()) {
      continue;
    }
    ++all;
    if (shown.size() < kMostHistograms) {
      shown.push_back(&of);
      low = std::min(low, of.ranges.front().low);
      high = std::max(high, of.ranges.back().low);
    }
  }
  const std::string what = blocks ? "basic blocks" : "instructions";
  pictures::BarPlot chart{
      .title = fmt::format("Executed {} of a pixel, by frame", what),
      .note =
          "Threads of each launch that have a path: a pixel and a frame where a launch renders a frame." +
          (all <= shown.size() ? std::string()
                               : fmt::format(" The first {} of {}.", shown.size(), counted(all, "launch", "launches"))),
      .category_title = fmt::format("executed {} of a thread", what),
      .value_title = "threads of the launch (%)"};
  std::vector<std::uint64_t> lows;
  for (std::uint64_t at = low; !shown.empty();) {
    lows.push_back(at);
    chart.categories.push_back(range_name(at));
    if (at >= high) {
      break;
    }
    at = at == 0 ? 1 : at * 2;
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const LaunchHistogram& of = *shown[i];
    pictures::BarPlot::Series series{fmt::format("launch {} (mean {:.1f})", of.launch, of.mean), i, {}};
    for (const std::uint64_t at : lows) {
      const auto range = std::ranges::find(of.ranges, at, &ThreadRange::low);
      const bool there = range != of.ranges.end() && of.threads != 0;
      series.values.push_back(
          there ? kThreadPercent * static_cast<double>(range->threads) / static_cast<double>(of.threads) : 0);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

std::vector<LaunchHistogram> pixel_histograms(const trace::Trace& trace, const profile::PathProfile& paths,
                                              const std::string& file) {
  std::vector<LaunchHistogram> histograms;
  for (std::uint32_t number = 0; number < trace.launches.size(); ++number) {
    const trace::Launch& launch = trace.launches[number];
    for (const bool blocks : {false, true}) {
      const auto threads = blocks ? profile::thread_blocks(trace, paths, launch, std::nullopt, file)
                                  : profile::thread_instructions(trace, paths, launch, std::nullopt, file);
      if (threads.empty()) {
        continue;
      }
      LaunchHistogram& of = histograms.emplace_back(histogram_of(threads));
      of.launch = number;
      of.frame = launch.frame;
      of.blocks = blocks;
    }
  }
  return histograms;
}

output::Table pixel_table(const std::vector<LaunchHistogram>& histograms) {
  output::Table table;
  table.columns = {{"launch", "launch"},    {"frame", "frame"},     {"measure", "executed by a thread"},
                   {"low", "from"},         {"high", "to below"},   {"threads", "threads"},
                   {"mean", "mean of all"}, {"most", "most of all"}};
  for (const LaunchHistogram& of : histograms) {
    const auto add = [&](const output::Cell& low, const output::Cell& high, std::uint64_t threads) {
      table.rows.push_back({std::uint64_t{of.launch}, std::uint64_t{of.frame},
                            std::string(of.blocks ? "blocks" : "instructions"), low, high, threads,
                            of.threads == 0 ? output::Cell{} : output::Cell{of.mean},
                            of.threads == 0 ? output::Cell{} : output::Cell{of.most}});
    };
    for (const ThreadRange& range : of.ranges) {
      if (range.threads != 0) {
        add(range.low, range.high == 0 ? output::Cell{} : output::Cell{range.high}, range.threads);
      }
    }
    if (of.unknown != 0) {
      add({}, {}, of.unknown);
    }
  }
  return table;
}

std::vector<pictures::Chart> pixel_charts(const std::vector<LaunchHistogram>& histograms) {
  const bool any = std::ranges::any_of(histograms, [](const LaunchHistogram& of) { return !of.ranges.empty(); });
  if (!any) {
    return {};
  }
  return {chart_of(histograms, false), chart_of(histograms, true)};
}

}  // namespace rayreplay::report
