// rayreplay explain: why was each intersection test made?
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/device_option.hpp"
#include "app/commands/options.hpp"
#include "app/commands/settings_options.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "app/pictures/heatmap.hpp"
#include "app/report/explain.hpp"
#include "app/report/explain_file.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "traversal/classification/simulate.hpp"

namespace rayreplay::app {
namespace {

using experiment::Settings;

constexpr std::string_view kNoLayouts = "none";
constexpr const char* kHardware = "explain.hardware";
/// Keys that say something of a simulated hardware alone.
constexpr std::array kOfHardware = {"explain.hardware_layout", "explain.hardware_builder", "explain.blind",
                                    "explain.any_hit_only", "explain.ground_truth"};

struct Options {
  std::string path;
  SettingsOptions experiment;
  std::size_t worst = 10;
  std::string maps;
  std::string result;
  std::string colormap = "viridis";
  DeviceOption device;
  FormatOption format;
  OutputOption output;
};

std::vector<std::string> items(std::string_view list) {
  std::vector<std::string> result;
  for (bool more = true; more;) {
    const auto end = list.find(';');
    result.emplace_back(list.substr(0, end));
    more = end != std::string_view::npos;
    list = more ? list.substr(end + 1) : std::string_view();
  }
  return result;
}

traversal::ClassifyOptions classify_options(const Options& options, const Settings& settings) {
  traversal::ClassifyOptions result;
  result.slack = settings.real("explain.slack");
  result.enlarge = settings.real("bvh.enlarge");
  result.culls = settings.flag("explain.culls");
  const std::string& layouts = settings.text("explain.enlarged_layouts");
  result.enlarged_layouts = layouts == kNoLayouts ? std::vector<std::string>() : items(layouts);
  result.enlarged_builders = items(settings.text("explain.enlarged_builders"));
  result.per_test = !options.result.empty();
  result.per_ray = !options.result.empty();
  return result;
}

bool simulates(const Settings& settings) {
  return !settings.text(kHardware).empty();
}

traversal::SimulateOptions simulate_options(const Options& options, const Settings& settings) {
  traversal::SimulateOptions result;
  result.classify = classify_options(options, settings);
  result.traversal = settings.text(kHardware);
  result.structure.layout = settings.text("explain.hardware_layout");
  result.structure.builder = settings.text("explain.hardware_builder");
  result.structure.enlarge = result.classify.enlarge;
  result.any_hit_only = settings.flag("explain.any_hit_only");
  result.ground_truth = settings.flag("explain.ground_truth");
  result.blind = settings.flag("explain.blind");
  traversal::require_ground_truth(result);
  return result;
}

/// What the command line says of a hardware that is not simulated.
void require_hardware(const Settings& settings) {
  for (const char* key : kOfHardware) {
    if (settings.where(key).starts_with("--")) {
      throw Error(ErrorKind::Usage, {"the option does not fit", experiment::place_of(settings.where(key), key),
                                     "without --hardware", "a simulated hardware", "add --hardware SPEC"});
    }
  }
}

/// What the answer depends on.
Settings told_settings(const Options& options, const Settings& settings, const traversal::Simulation& simulation) {
  Settings read = options.experiment.read_of(settings);
  if (simulates(settings)) {
    read.set("explain.hardware_layout", simulation.layout, "");
    read.set("explain.hardware_builder", simulation.builder, "");
  }
  return simulates(settings) ? read : experiment::of_keys(read, [](const experiment::ExperimentParameter& parameter) {
    const std::string& key = parameter.declared.name;
    return key != kHardware && std::ranges::find(kOfHardware, key) == kOfHardware.end();
  });
}

std::string render(const report::Explanation& explanation, output::Format format) {
  switch (format) {
    case output::Format::Json:
      return json_text(report::explain_json(explanation), 2) + "\n";
    case output::Format::Csv:
      return report::explain_csv(explanation);
    case output::Format::Table:
      break;
  }
  return report::explain_text(explanation);
}

int act(const Options& options) {
  // Everything that can be wrong without the trace is found before it is read.
  const output::Format format = options.format.format();
  const pictures::Colormap colormap = pictures::parse_colormap(options.colormap);
  const Settings settings = options.experiment.settings(options.path);
  const bool simulated = simulates(settings);
  if (!simulated) {
    require_hardware(settings);
  }
  const auto asked_launch = static_cast<std::uint32_t>(settings.integer("launch"));
  const traversal::ClassifyOptions classify = classify_options(options, settings);
  const traversal::SimulateOptions simulate =
      simulated ? simulate_options(options, settings) : traversal::SimulateOptions{};
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

  const trace::Trace trace = load_trace(options.path);
  const trace::Launch& launch = traversal::launch_with_scene(trace, asked_launch, options.path);
  if (!options.maps.empty()) {
    pictures::require_drawable(launch.size.width, launch.size.height, options.path);
  }
  const std::unique_ptr<Progress> progress = console::make_progress();
  traversal::Simulation simulation;
  if (simulated) {
    traversal::SimulateOptions with_progress = simulate;
    with_progress.classify.progress = progress.get();
    with_progress.classify.accelerator = accelerator.get();
    simulation = traversal::simulate(trace, asked_launch, options.path, with_progress);
  } else {
    traversal::ClassifyOptions with_progress = classify;
    with_progress.progress = progress.get();
    with_progress.accelerator = accelerator.get();
    simulation.classification = traversal::classify(trace, asked_launch, options.path, with_progress);
  }

  report::Explanation explanation{
      options.path, trace, asked_launch, simulation.classification, told_settings(options, settings, simulation),
      options.worst};
  if (simulated) {
    explanation.simulation = &simulation;
    explanation.ground_truth = simulate.ground_truth;
  }
  explanation.stages = accelerator->records();
  log_not_captured(trace.header);
  for (const std::string& line : report::explain_warnings(simulation.classification)) {
    console::log("rayreplay: warning: " + line);
  }
  if (!options.maps.empty()) {
    report::write_explain_folder(explanation, options.maps, options.output.force, colormap);
  }
  if (!options.result.empty()) {
    result_file.write(report::explain_file(explanation));
  }
  options.output.write(render(explanation, format));
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("explain", "Why was each intersection test made?");
  command->group("Experiments");
  auto options = std::make_shared<Options>();
  add_trace_file(*command, options->path)->required();
  TakenKeys taken;
  taken.also = {"launch", "bvh.enlarge"};
  options->experiment.add_to(*command, std::move(taken));
  options->device.add_to(*command);
  options->format.add_to(*command);
  options->output.add_to(*command, "Where to write the result; - is standard output");
  command->add_option("--worst", options->worst, "Objects and pixels to list")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N")
      ->capture_default_str()
      ->group("Output");
  command->add_option("--maps", options->maps, "Folder to write: a heat map for each kind, explain.json, explain.csv")
      ->type_name("DIR")
      ->group("Output");
  command->add_option("--result", options->result, "HDF5 file to write: kinds by test, ray, thread and object")
      ->type_name("FILE")
      ->group("Output");
  command->add_option("--colormap", options->colormap, "viridis or plasma")
      ->type_name("NAME")
      ->capture_default_str()
      ->group("Output");
  command->callback([&session, options] { session.action = [options] { return act(*options); }; });
}

}  // namespace rayreplay::app
