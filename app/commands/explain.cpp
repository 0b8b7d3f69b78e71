// rayreplay explain: why was each intersection test made?
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/device_option.hpp"
#include "app/commands/options.hpp"
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

constexpr const char* kNoLayouts = "none";

struct Options {
  std::string path;
  std::uint32_t launch = 0;
  double slack = 8;
  double enlarge = 0;
  bool culls = false;
  std::vector<std::string> enlarged_layouts;
  std::vector<std::string> enlarged_builders;
  std::string hardware;
  std::optional<std::string> hardware_layout;   ///< compressed-wide-8
  std::optional<std::string> hardware_builder;  ///< medium
  std::optional<std::uint64_t> scramble_seed;
  bool any_hit_only = false;
  bool ground_truth = false;
  bool blind = false;
  std::size_t worst = 10;
  std::string maps;
  std::string result;
  std::string colormap = "viridis";
  DeviceOption device;
  FormatOption format;
  OutputOption output;
};

void require(bool good, const char* option, const std::string& found, const char* expected) {
  if (!good) {
    throw Error(ErrorKind::Usage, {"the option does not fit", option, found, expected, ""});
  }
}

traversal::ClassifyOptions classify_options(const Options& options) {
  traversal::ClassifyOptions result;
  require(options.slack >= 0 && options.slack <= 1e6, "--slack", fmt::format("{}", options.slack), "0 to 1000000");
  require(options.enlarge >= 0 && options.enlarge <= 1e6, "--enlarge", fmt::format("{}", options.enlarge),
          "a share of the box's diagonal from 0 to 1000000");
  result.slack = options.slack;
  result.enlarge = options.enlarge;
  result.culls = options.culls;
  if (options.enlarged_layouts == std::vector<std::string>{kNoLayouts}) {
    result.enlarged_layouts.clear();
  } else if (!options.enlarged_layouts.empty()) {
    result.enlarged_layouts = options.enlarged_layouts;
  }
  for (const std::string& spec : result.enlarged_layouts) {
    static_cast<void>(bvh::Layouts::create(spec));
  }
  if (!options.enlarged_builders.empty()) {
    result.enlarged_builders = options.enlarged_builders;
  }
  for (const std::string& spec : result.enlarged_builders) {
    static_cast<void>(bvh::Builders::create(spec));
  }
  result.per_test = !options.result.empty();
  result.per_ray = !options.result.empty();
  return result;
}

bool simulates(const Options& options) {
  return !options.hardware.empty() || options.scramble_seed;
}

traversal::SimulateOptions simulate_options(const Options& options) {
  traversal::SimulateOptions result;
  result.classify = classify_options(options);
  require(options.hardware.empty() || !options.scramble_seed, "--scramble-seed", "with --hardware",
          "one of the two: the scrambled order is the traversal any-order with that seed");
  result.traversal =
      options.scramble_seed ? fmt::format("any-order:seed={}", *options.scramble_seed) : options.hardware;
  result.structure.layout = options.hardware_layout.value_or("compressed-wide-8");
  result.structure.builder = options.hardware_builder.value_or("medium");
  result.structure.enlarge = options.enlarge;
  result.any_hit_only = options.any_hit_only;
  result.ground_truth = options.ground_truth;
  result.blind = options.blind;
  // Unknown models are found before the trace is read.
  static_cast<void>(traversal::Traversals::create(result.traversal));
  static_cast<void>(bvh::Layouts::create(result.structure.layout));
  static_cast<void>(bvh::Builders::create(result.structure.builder));
  traversal::require_ground_truth(result);
  return result;
}

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, " "));
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
  const bool simulated = simulates(options);
  if (!simulated) {
    require(!options.ground_truth, "--ground-truth", "without --hardware",
            "a simulated hardware, whose causes are known");
    require(!options.blind, "--blind", "without --hardware", "a simulated hardware, whose boxes are known");
    require(!options.hardware_layout, "--hardware-layout", "without --hardware", "a simulated hardware");
    require(!options.hardware_builder, "--hardware-builder", "without --hardware", "a simulated hardware");
    require(!options.any_hit_only, "--any-hit-only", "without --hardware", "a simulated hardware");
  }
  const traversal::ClassifyOptions classify = classify_options(options);
  const traversal::SimulateOptions simulate = simulated ? simulate_options(options) : traversal::SimulateOptions{};
  require_file_name(options.result, "--result");
  require_distinct({{"--output", options.output.path}, {"--maps", options.maps}, {"--result", options.result}},
                   {{"the trace", options.path}});
  options.output.check();
  if (!options.maps.empty()) {
    output::require_folder_writable(options.maps, options.output.force, report::explain_folder());
  }
  const std::unique_ptr<kernels::Accelerator> accelerator = options.device.open();
  const OutputOption result_file{options.result, options.output.force};
  if (!options.result.empty()) {
    result_file.check();
  }

  const trace::Trace trace = load_trace(options.path);
  const trace::Launch& launch = traversal::launch_with_scene(trace, options.launch, options.path);
  if (!options.maps.empty()) {
    pictures::require_drawable(launch.size.width, launch.size.height, options.path);
  }
  const std::unique_ptr<Progress> progress = console::make_progress();
  traversal::Simulation simulation;
  if (simulated) {
    traversal::SimulateOptions with_progress = simulate;
    with_progress.classify.progress = progress.get();
    with_progress.classify.accelerator = accelerator.get();
    simulation = traversal::simulate(trace, options.launch, options.path, with_progress);
  } else {
    traversal::ClassifyOptions with_progress = classify;
    with_progress.progress = progress.get();
    with_progress.accelerator = accelerator.get();
    simulation.classification = traversal::classify(trace, options.launch, options.path, with_progress);
  }

  report::Explanation explanation{options.path, trace, options.launch, simulation.classification, {}, options.worst};
  explanation.configuration = {{"slack", fmt::format("{}", options.slack)},
                               {"enlarged_layouts", joined(classify.enlarged_layouts)},
                               {"enlarged_builders", joined(classify.enlarged_builders)},
                               {"enlarge", fmt::format("{}", options.enlarge)},
                               {"culls", options.culls ? "true" : "false"}};
  if (simulated) {
    explanation.simulation = &simulation;
    explanation.ground_truth = options.ground_truth;
    explanation.configuration.emplace_back("hardware", simulation.traversal);
    explanation.configuration.emplace_back("hardware_layout", simulation.layout);
    explanation.configuration.emplace_back("hardware_builder", simulation.builder);
    explanation.configuration.emplace_back("blind", options.blind ? "true" : "false");
    explanation.configuration.emplace_back("any_hit_only", options.any_hit_only ? "true" : "false");
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

void add_hardware_options(CLI::App& command, Options& options) {
  constexpr const char* kGroup = "Simulated hardware";
  command
      .add_option("--hardware", options.hardware,
                  "Traversal to play the hardware on the trace's rays; its tests are explained, not the trace's")
      ->type_name("SPEC")
      ->group(kGroup);
  command.add_option("--hardware-layout", options.hardware_layout, "Layout of its structure [compressed-wide-8]")
      ->type_name("SPEC")
      ->group(kGroup);
  command
      .add_option("--hardware-builder", options.hardware_builder,
                  "Builder of its structure; leaves of one primitive unless the spec sets leaf_size [medium]")
      ->type_name("SPEC")
      ->group(kGroup);
  command.add_option("--scramble-seed", options.scramble_seed, "Short for --hardware any-order:seed=N")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N")
      ->group(kGroup);
  command
      .add_flag("--blind", options.blind,
                "Explain without knowing the hardware's own boxes, which are otherwise among the enlarged ones")
      ->group(kGroup);
  command.add_flag("--any-hit-only", options.any_hit_only, "Of triangle tests only those that an any-hit shader sees")
      ->group(kGroup);
  command.add_flag("--ground-truth", options.ground_truth, "Compare each class with the known cause")->group(kGroup);
}

}  // namespace

void add_explain_command(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("explain", "Why was each intersection test made?");
  command->group("Experiments");
  auto options = std::make_shared<Options>();
  add_trace_file(*command, options->path)->required();
  command->add_option("--launch", options->launch, "Launch of the trace")
      ->type_name("N")
      ->capture_default_str()
      ->group("Classification");
  command->add_option("--slack", options->slack, "Rounding allowed to the hardware, in units of 2^-24 of the operands")
      ->type_name("X")
      ->capture_default_str()
      ->group("Classification");
  command
      ->add_option("--enlarged-layout", options->enlarged_layouts,
                   "Layout whose boxes the hardware may have used, may be repeated; none: exact boxes "
                   "[compressed-wide-8, quantised-6, half-4]")
      ->type_name("SPEC")
      ->allow_extra_args(false)
      ->group("Classification");
  command
      ->add_option("--enlarged-builder", options->enlarged_builders,
                   "Builder of the trees in those layouts, may be repeated: all layouts over all builders [medium]")
      ->type_name("SPEC")
      ->allow_extra_args(false)
      ->group("Classification");
  command
      ->add_option(
          "--enlarge", options->enlarge,
          "A known enlargement of all leaf boxes, as a share of their diagonal; a simulated hardware has it too")
      ->type_name("X")
      ->capture_default_str()
      ->group("Classification");
  command
      ->add_flag("--culls", options->culls,
                 "The hardware leaves out whatever it enters beyond the ray's t_max of the moment: decides R2 or R3")
      ->group("Classification");
  add_hardware_options(*command, *options);
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
