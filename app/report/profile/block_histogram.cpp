#include "app/report/profile/block_histogram.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rayreplay::report {
namespace {

/// The decade of a number above 0: d with 10^d ≤ value < 10^(d + 1).
int decade_of(double value) {
  int decade = static_cast<int>(std::floor(std::log10(value)));
  // The logarithm may round to the neighbour.
  decade -= value < std::pow(10.0, decade) ? 1 : 0;
  decade += value >= std::pow(10.0, decade + 1) ? 1 : 0;
  return decade;
}

std::string name_of(const BlockRange& range) {
  return range.high == 0 ? "never" : fmt::format("{:g} to {:g}", range.low, range.high);
}

std::size_t stage_of(const ProfileContext& context, std::uint16_t shader) {
  return static_cast<std::size_t>(context.trace.shaders[shader].stage);
}

}  // namespace

std::vector<BlockRange> block_histogram(const ProfileContext& context, const ProfileDetails& details) {
  double threads = 0;
  for (const auto& [shader, of] : details.executions) {
    const bool begins = context.trace.shaders[shader].stage == trace::ShaderStage::RayGeneration;
    threads += begins ? static_cast<double>(of.profile.entries) : 0;
  }
  if (threads == 0) {
    return {};
  }
  std::map<int, BlockRange> decades;
  BlockRange never;
  for (const auto& [shader, of] : details.executions) {
    if (stage_of(context, shader) >= trace::kRayTracingStages) {
      continue;  // its invocations are no threads of launches
    }
    for (const profile::BlockProfile& block : of.profile.blocks) {
      if (block.lanes == 0) {
        ++never.by_stage.at(stage_of(context, shader));
        continue;
      }
      const int decade = decade_of(static_cast<double>(block.lanes) / threads);
      ++decades[decade].by_stage.at(stage_of(context, shader));
    }
  }
  std::vector<BlockRange> ranges = {never};
  if (!decades.empty()) {
    for (int decade = decades.begin()->first; decade <= decades.rbegin()->first; ++decade) {
      BlockRange& range = decades[decade];
      range.low = std::pow(10.0, decade);
      range.high = std::pow(10.0, decade + 1);
      ranges.push_back(range);
    }
  }
  return ranges;
}

output::Table histogram_table(const std::vector<BlockRange>& ranges) {
  output::Table table;
  table.columns = {
      {"low", "executions of a thread, from"}, {"high", "to below"}, {"stage", "stage"}, {"blocks", "blocks"}};
  for (const BlockRange& range : ranges) {
    for (std::size_t stage = 0; stage < trace::kShaderStages; ++stage) {
      if (range.by_stage.at(stage) != 0) {
        table.rows.push_back({range.low, range.high, std::string(to_string(static_cast<trace::ShaderStage>(stage))),
                              range.by_stage.at(stage)});
      }
    }
  }
  return table;
}

std::vector<pictures::Chart> histogram_charts(const std::vector<BlockRange>& ranges) {
  if (ranges.empty()) {
    return {};
  }
  pictures::BarPlot chart{.title = "Basic blocks by executions",
                          .note =
                              "Executions of a thread, mean over all threads of the captured launches: per pixel "
                              "and frame where a launch renders a frame.",
                          .category_title = "executions of a thread",
                          .value_title = "basic blocks",
                          .stacked = true};
  for (const BlockRange& range : ranges) {
    chart.categories.push_back(name_of(range));
  }
  for (std::size_t stage = 0; stage < trace::kShaderStages; ++stage) {
    pictures::BarPlot::Series series{std::string(to_string(static_cast<trace::ShaderStage>(stage))), stage, {}};
    double blocks = 0;
    for (const BlockRange& range : ranges) {
      series.values.push_back(static_cast<double>(range.by_stage.at(stage)));
      blocks += series.values.back();
    }
    if (blocks != 0) {
      chart.series.push_back(std::move(series));
    }
  }
  return {chart};
}

}  // namespace rayreplay::report
