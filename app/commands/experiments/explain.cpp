// rayreplay explain: the reasons of intersection tests.
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/device_option.hpp"
#include "app/commands/options/opened_trace.hpp"
#include "app/commands/options/options.hpp"
#include "app/commands/options/settings_options.hpp"
#include "app/console/console.hpp"
#include "app/report/charts/heatmap.hpp"
#include "app/report/explain/explain.hpp"
#include "app/report/explain/explain_file.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "sim/engine/stages/classification.hpp"

namespace rayreplay::app {
namespace {

using experiment::Settings;

constexpr const char* kHardware = "explain.hardware";
/// Keys that only apply to simulated hardware.
constexpr std::array kOfHardware = {"explain.hardware_layout", "explain.hardware_builder", "explain.blind",
                                    "explain.any_hit_only", "explain.ground_truth"};

struct ExplainArguments {
  std::string path;
  SettingsOptions experiment;
  std::size_t worst = 10;
  std::string maps;
  std::string result;
  std::string colormap = "viridis";
  DeviceOption device;
  ResultOption output;
};

/// Usage for flags that describe simulated hardware, if no hardware is simulated.
void require_hardware(const Settings& settings) {
  for (const char* key : kOfHardware) {
    if (settings.where(key).starts_with("--")) {
      throw Error(ErrorKind::Usage, {"the option does not fit", experiment::place_of(settings.where(key), key),
                                     "without --hardware", "a simulated hardware", "add --hardware SPEC"});
    }
  }
}

/// The settings that affect the answer.
Settings told_settings(const ExplainArguments& options, const Settings& settings,
                       const traversal::Simulation& simulation) {
  Settings read = options.experiment.read_of(settings);
  if (experiment::simulates(settings)) {
    read.set("explain.hardware_layout", simulation.layout, "");
    read.set("explain.hardware_builder", simulation.builder, "");
  }
  return experiment::simulates(settings)
             ? read
             : experiment::of_keys(read, [](const experiment::ExperimentParameter& parameter) {
                 const std::string& key = parameter.declared.name;
                 return key != kHardware && std::ranges::find(kOfHardware, key) == kOfHardware.end();
               });
}

int act(const ExplainArguments& options) {
  // Reports all errors that do not need the trace before it is read.
  const pictures::Colormap colormap = pictures::parse_colormap(options.colormap);
  const Settings settings = options.experiment.settings(options.path);
  const bool simulated = experiment::simulates(settings);
  if (!simulated) {
    require_hardware(settings);
  }
  const auto asked_launch = static_cast<std::uint32_t>(settings.integer("launch"));
  static_cast<void>(experiment::classification_of(settings));
  require_file_name(options.result, "--result");
  require_distinct({{"--output", options.output.path}, {"--maps", options.maps}, {"--result", options.result}},
                   options.experiment.inputs(options.path, settings));
  options.output.check();
  if (!options.maps.empty()) {
    output::require_folder_writable(options.maps, options.output.force, report::explain_folder());
  }
  const std::unique_ptr<Accelerator> accelerator = options.device.open();
  const OutputOption result_file{options.result, options.output.force};
  if (!options.result.empty()) {
    result_file.check();
  }

  OpenedTrace opened(options.path, settings, accelerator.get());
  const trace::Trace& trace = opened.trace();
  const trace::Launch& launch = traversal::launch_with_scene(trace, asked_launch, options.path);
  if (!options.maps.empty()) {
    pictures::require_drawable(launch.size.width, launch.size.height, options.path);
  }
  experiment::Workbench bench = opened.bench();
  const traversal::Simulation simulation = experiment::classify_launch(
      bench, opened.open(), {.per_test = !options.result.empty(), .per_ray = !options.result.empty()});

  report::Explanation explanation{
      options.path, trace, asked_launch, simulation.classification, told_settings(options, settings, simulation),
      options.worst};
  if (simulated) {
    explanation.simulation = &simulation;
    explanation.ground_truth = settings.flag("explain.ground_truth");
  }
  explanation.stages = accelerator->records();
  log_not_captured(trace.header);
  for (const std::string& line : report::explain_warnings(simulation.classification)) {
    console::warn("{}", line);
  }
  if (!options.maps.empty()) {
    report::write_explain_folder(explanation, options.maps, options.output.force, colormap);
  }
  if (!options.result.empty()) {
    result_file.write(report::explain_file(explanation));
  }
  options.output.write_result({[&] { return report::explain_text(explanation); },
                               [&] { return report::explain_rows(explanation); },
                               [&] { return report::explain_json(explanation); }});
  return 0;
}

void declare(CLI::App& command, ExplainArguments& options) {
  add_trace_file(command, options.path)->required();
  options.experiment.add_to(command, {"classification"});
  options.device.add_to(command);
  options.output.add_to(command);
  add_value(command, "--worst", options.worst, "N", "Objects and pixels to list", "Output")
      ->check(CLI::NonNegativeNumber);
  add_plain(command, "--maps", options.maps, "DIR",
            "Folder to write: a heat map for each kind, explain.json, explain.csv", "Output");
  add_plain(command, "--result", options.result, "FILE", "HDF5 file to write: kinds by test, ray, thread and object",
            "Output");
  add_value(command, "--colormap", options.colormap, "NAME", "viridis or plasma", "Output");
}

}  // namespace

void add_explain_command(CLI::App& root, Session& session) {
  add_command(root, session, {"explain", "Experiments", "Why was each intersection test made?"}, declare, act);
}

}  // namespace rayreplay::app
