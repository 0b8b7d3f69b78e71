// rayreplay calibrate: fits keys of a machine to measured launches.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/device_option.hpp"
#include "app/commands/options/options.hpp"
#include "app/commands/options/settings_options.hpp"
#include "app/commands/options/store_option.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "app/report/calibration/calibration_report.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/keep_memory.hpp"
#include "base/progress.hpp"
#include "base/stopwatch.hpp"
#include "sim/calibration/calibrate.hpp"
#include "sim/calibration/measurements.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/settings/machine_settings.hpp"
#include "sim/settings/settings.hpp"
#include "sim/sweep/definition/paths.hpp"

namespace rayreplay::app {
namespace {

constexpr const char* kFitGroup = "Fit";

struct CalibrateArguments {
  std::string path;
  std::string machine;
  std::vector<std::string> keys;
  std::string residual = to_string(calibration::Residual::Ratio);
  std::vector<std::string> held_out;
  unsigned evaluations = 200;
  std::string config;
  std::vector<std::string> assignments;
  StoreOption store;
  DeviceOption device;
  FormatOption format;
  std::string machine_file;
  bool force = false;
};

/// Keys that the command sets itself, and what to do instead.
void require_not_own(const std::string& key) {
  for (const auto& [own, instead] : {std::pair{experiment::kMachineName, "give it to --machine"},
                                     {"trace", "it is a column of the measurements"},
                                     {"workload", "it is in the column trace of the measurements"},
                                     {"outputs", "the column metric of the measurements says which stages run"}}) {
    if (key.substr(0, key.find(':')) == own) {
      throw Error(ErrorKind::Usage,
                  {"calibrate sets this key itself", "--set", "'" + key + "'", "another key", instead});
    }
  }
}

/// The settings that all rows share: --config without the keys that the command sets, --set, and the machine.
experiment::Settings common_settings(const CalibrateArguments& options) {
  experiment::Settings settings;
  if (!options.config.empty()) {
    settings = experiment::of_keys(
        experiment::parse_experiment(read_text_file(options.config, kMaxExperimentBytes), options.config,
                                     std::filesystem::path(options.config).parent_path().string()),
        [](const experiment::ExperimentParameter& parameter) {
          const std::string& name = parameter.declared.name;
          return name != "trace" && name != "workload" && name != "outputs" && name != experiment::kMachineName;
        });
  }
  for (const std::string& assignment : options.assignments) {
    const std::string key = assignment.substr(0, assignment.find('='));
    require_not_own(key);
    settings.set_text(assignment, "--set");
    experiment::require_read_by_stage(key, "--set");
  }
  settings.set(experiment::kMachineName, options.machine, "--machine");
  return settings;
}

/// Input files: none of them may be the output.
std::vector<NamedPath> inputs_of(const CalibrateArguments& options, const experiment::Settings& common,
                                 const std::vector<calibration::Measurement>& measurements) {
  std::vector<NamedPath> inputs = {{"MEASURED", options.path}, {"--config", options.config}};
  const auto add = [&inputs](const experiment::Settings& settings, const std::string& place) {
    for (const auto& [key, setting] : settings.all()) {
      for (const std::string& path : sweep::paths_in(key, setting.value)) {
        inputs.push_back({place.empty() ? key : place + ", " + key, path});
      }
    }
  };
  add(common, "");
  for (const calibration::Measurement& one : measurements) {
    add(one.settings, one.place);
  }
  return inputs;
}

int act(const CalibrateArguments& options) {
  static_cast<void>(options.format.format());
  calibration::CalibrationOptions wanted;
  wanted.residual = calibration::parse_residual(options.residual, "--residual");
  wanted.most_evaluations = options.evaluations;
  wanted.common = common_settings(options);
  wanted.keys = calibration::parse_fitted_keys(
      options.keys, experiment::complete(wanted.common, experiment::NamedInput::Elsewhere), "--fit");
  const std::string csv = read_text_file(options.path, kMaxTextBytes, "file of measurements");
  std::vector<calibration::Measurement> measurements =
      calibration::parse_measurements(csv, options.path, std::filesystem::path(options.path).parent_path().string());
  for (const std::string& row : options.held_out) {
    calibration::hold_out(measurements, row, "--hold-out");
  }
  require_file_name(options.machine_file, "--output");
  require_distinct({{"--output", options.machine_file}}, inputs_of(options, wanted.common, measurements));
  const OutputOption output{options.machine_file, options.force};
  output.check();
  keep_freed_blocks();
  const std::unique_ptr<experiment::Store> store = options.store.open();
  const std::unique_ptr<Accelerator> accelerator = options.device.open();
  const std::unique_ptr<Progress> progress = console::make_progress();
  experiment::Evaluator evaluator({store.get()});
  const Stopwatch watch;
  calibration::Calibration result =
      calibration::calibrate(measurements, wanted, evaluator, accelerator.get(), progress.get());
  console::tell("{} of {}, {:.3f} s", counted(result.evaluations, "evaluation"), counted(measurements.size(), "row"),
                watch.seconds());
  result.machine.name += "-fitted";
  const report::CalibrationContext context{options.path, sweep::text_hash(csv), measurements, wanted, result};
  if (!options.machine_file.empty()) {
    output.write(report::fitted_machine_file(context));
  }
  console::print(output::render(
      {[&] { return report::calibration_text(context); }, [&] { return report::calibration_rows(context); },
       [&] { return report::calibration_json(context); }},
      options.format.format()));
  return 0;
}

void declare(CLI::App& command, CalibrateArguments& options) {
  add_plain(command, "measured", options.path, "MEASURED",
            "Measured launches (CSV): columns trace, metric, value, and keys of experiments", "Input")
      ->required();
  add_plain(command, "--machine", options.machine, "NAME|FILE", "Machine whose keys are fitted", kFitGroup)->required();
  add_plain(command, "--fit", options.keys, "KEY[=LOW..HIGH]",
            "Key of the machine to fit, and its bounds [half to twice its value]; may be repeated, at most five",
            kFitGroup)
      ->required()
      ->allow_extra_args(false);
  add_value(command, "--residual", options.residual, "NAME",
            "What is squared and summed: ratio (logarithm of said over measured) or difference", kFitGroup);
  add_plain(command, "--hold-out", options.held_out, "ROW",
            "Predict this row (a name, or a number from 1) instead of fitting it; may be repeated", kFitGroup)
      ->allow_extra_args(false);
  add_value(command, "--max-evaluations", options.evaluations, "N", "Evaluate the fitted rows at most so many times",
            kFitGroup);
  add_plain(command, "--config", options.config, "FILE", "Experiment (TOML) that all rows share", "Experiment");
  add_plain(command, "--set", options.assignments, "KEY=VALUE",
            "A key's value for all rows; may be repeated. See rayreplay list keys", "Experiment")
      ->allow_extra_args(false);
  options.store.add_to(command);
  options.device.add_to(command);
  options.format.add_to(command);
  add_plain(command, "-o,--output", options.machine_file, "FILE", "Also write the fitted machine (TOML)", "Output");
  add_force(command, options.force);
}

}  // namespace

void add_calibrate_command(CLI::App& root, Session& session) {
  add_command(root, session, {"calibrate", "Experiments", "Fit a few keys of a machine to measured launches"}, declare,
              act);
}

}  // namespace rayreplay::app
