// rayreplay replay: one packing in detail: SIMT efficiency by stage, by shader and over the warps.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/device_option.hpp"
#include "app/commands/options/opened_trace.hpp"
#include "app/commands/options/options.hpp"
#include "app/commands/options/settings_options.hpp"
#include "app/console/console.hpp"
#include "app/report/context/context.hpp"
#include "app/report/models/path_cells.hpp"
#include "app/report/packings/observed_table.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/simt.hpp"

namespace rayreplay::app {
namespace {

constexpr std::size_t kHistogramBins = 20;

/// `paths`: of the same warp events; empty without paths.
output::Table replay_table(const simt::ReplayResult& result, const profile::PathTallies& paths,
                           const trace::Trace& trace) {
  output::Table table;
  table.columns = {{"scope", "scope"},
                   {"name", "name"},
                   {"calls", "calls"},
                   {"warp_events", "warp events"},
                   {"efficiency", "SIMT efficiency", output::Show::Percent},
                   {"weighted_efficiency", "weighted", output::Show::Percent}};
  std::vector<profile::PathTally> by_row;
  const auto add = [&](const std::string& scope, const std::string& name, const simt::Tally& tally,
                       const profile::PathTally& by_path) {
    if (tally.warp_events > 0) {
      table.rows.push_back({scope, name, tally.active_lanes, tally.warp_events, tally.efficiency(result.warp_size),
                            tally.weighted_efficiency(result.warp_size)});
      by_row.push_back(by_path);
    }
  };
  add("launch", "all", result.total, paths.all());
  for (std::size_t i = 0; i < result.by_kind.size(); ++i) {
    const auto kind = static_cast<trace::EventKind>(i);
    add("stage", trace::to_string(kind), result.by_kind[i], paths.of_kind(kind));
  }
  for (std::size_t id = 0; id < result.by_shader.size(); ++id) {
    const trace::Shader& shader = trace.shaders[id];
    add("shader", fmt::format("{} {} ({})", id, shader.name, trace::to_string(shader.stage)), result.by_shader[id],
        paths.of_shader(id));
  }
  if (!paths.empty()) {
    const std::vector<output::Column> columns = report::path_columns(by_row);
    table.columns.insert(table.columns.end(), columns.begin(), columns.end());
    for (std::size_t i = 0; i < by_row.size(); ++i) {
      const std::vector<output::Cell> cells = report::path_cells(by_row[i], result.warp_size);
      table.rows[i].insert(table.rows[i].end(), cells.begin(), cells.end());
    }
  }
  return table;
}

/// Histogram of warps by efficiency; warps without events are counted separately.
nlohmann::ordered_json warp_histogram(const simt::ReplayResult& result) {
  std::array<std::uint64_t, kHistogramBins> bins{};
  std::uint64_t idle = 0;
  for (const simt::Tally& tally : result.by_warp) {
    if (tally.warp_events == 0) {
      ++idle;
      continue;
    }
    const double place = tally.efficiency(result.warp_size) * static_cast<double>(kHistogramBins);
    ++bins[std::min(static_cast<std::size_t>(place), kHistogramBins - 1)];
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < bins.size(); ++i) {
    list.push_back({{"from", static_cast<double>(i) / static_cast<double>(kHistogramBins)},
                    {"to", static_cast<double>(i + 1) / static_cast<double>(kHistogramBins)},
                    {"warps", bins[i]}});
  }
  return {{"warps", result.by_warp.size()}, {"warps_without_events", idle}, {"bins", list}};
}

struct ReplayArguments {
  std::string path;
  SettingsOptions experiment;
  DeviceOption device;
  ResultOption output;
};

int act(const ReplayArguments& options) {
  const experiment::Settings settings = options.experiment.settings(options.path);
  require_distinct({{"--output", options.output.path}}, options.experiment.inputs(options.path, settings));
  options.output.check();
  const std::unique_ptr<Accelerator> accelerator = options.device.open();
  OpenedTrace opened(options.path, settings, accelerator.get());
  const trace::Trace& trace = opened.trace();
  const experiment::Resolved resolved = experiment::resolved_of(settings, trace, true);
  const trace::Launch& launch = trace.launches[resolved.launch];
  // Identity comes first in the resolved list; the requested packing is the last.
  const std::string spec = resolved.packings.back();
  simt::ReplayOptions replay_options;
  replay_options.per_warp = true;
  replay_options.progress = opened.progress();
  experiment::Workbench bench = opened.bench();
  const simt::ReplayResult result = experiment::replay(bench, opened.open(), replay_options);

  const profile::PathTallies paths = experiment::tally_paths(bench, opened.open());
  const output::Table table = replay_table(result, paths, trace);
  log_not_captured(trace.header);
  const experiment::Settings told = options.experiment.read_of(settings, &resolved);
  const report::Context context{options.path, trace, resolved, {{"packing", spec}}, true, accelerator.get(), &told};
  options.output.write_result({[&] {
                                 return report::context_text(context) + "\n" + output::to_text(table) +
                                        report::path_note(!paths.empty()) + report::observed_text(trace, launch);
                               },
                               [&] { return report::with_context(table, context); },
                               [&] {
                                 nlohmann::ordered_json document = report::context_json(context, "rayreplay.replay/1");
                                 document["rows"] = to_json(table);
                                 document["warp_histogram"] = warp_histogram(result);
                                 if (nlohmann::ordered_json observed = report::observed_json(trace, launch);
                                     !observed.is_null()) {
                                   document["observed"] = std::move(observed);
                                 }
                                 return document;
                               }});
  return 0;
}

void declare(CLI::App& command, ReplayArguments& options) {
  add_trace_file(command, options.path)->required();
  options.experiment.add_to(command, {"assignment, simt"});
  options.device.add_to(command);
  options.output.add_to(command);
}

}  // namespace

void add_replay_command(CLI::App& root, Session& session) {
  add_command(root, session,
              {"replay", "Experiments", "One packing in detail: SIMT efficiency by stage, shader and warp"}, declare,
              act);
}

}  // namespace rayreplay::app
