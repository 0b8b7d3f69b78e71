// rayreplay run: computes the metrics of one experiment from a file of keys.
#include <algorithm>
#include <filesystem>
#include <memory>
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
#include "app/report/context/experiment_table.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/json.hpp"
#include "base/keep_memory.hpp"
#include "base/progress.hpp"
#include "bvh/check_options.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/settings/settings.hpp"
#include "sim/sweep/definition/paths.hpp"

namespace rayreplay::app {
namespace {

struct RunExperimentArguments {
  std::string path;
  std::vector<std::string> assignments;
  bool print_config = false;
  bool dry_run = false;
  StoreOption store;
  DeviceOption device;
  ResultOption output;
};

experiment::Settings complete_settings(const RunExperimentArguments& options) {
  experiment::Settings settings;
  if (!options.path.empty()) {
    settings = experiment::parse_experiment(read_text_file(options.path, kMaxExperimentBytes), options.path,
                                            std::filesystem::path(options.path).parent_path().string());
  }
  for (const std::string& assignment : options.assignments) {
    settings.set_text(assignment, "--set");
    experiment::require_read_by_stage(assignment.substr(0, assignment.find('=')), "--set");
  }
  return experiment::complete(settings);
}

/// Input files: none of them may be the output.
std::vector<NamedPath> inputs_of(const RunExperimentArguments& options, const experiment::Settings& settings) {
  std::vector<NamedPath> inputs = {{"EXPERIMENT", options.path}};
  for (const auto& [key, setting] : settings.all()) {
    for (const std::string& path : sweep::paths_in(key, setting.value)) {
      inputs.push_back({key, path});
    }
  }
  return inputs;
}

/// Combinations of structure options that are impossible: each is valid alone, but together they do not fit the builder
/// or the layout.
void check(const experiment::Settings& settings, const std::vector<experiment::StageForecast>& stages) {
  const auto is_structure = [](const experiment::StageForecast& one) {
    return one.stage == experiment::stage("structure");
  };
  if (std::ranges::any_of(stages, is_structure)) {
    bvh::check_options(experiment::structure_of(settings));
  }
}

int act(const RunExperimentArguments& options) {
  const experiment::Settings settings = complete_settings(options);
  require_distinct({{"--output", options.output.path}}, inputs_of(options, settings));
  options.output.check();
  if (options.print_config) {
    options.output.write(experiment::to_toml(settings, true));
    return 0;
  }
  if (options.dry_run) {
    const std::unique_ptr<experiment::Store> store = options.store.open_existing();
    experiment::Evaluator evaluator({store.get()});
    const std::vector<experiment::StageForecast> stages = evaluator.forecast(settings);
    check(settings, stages);
    options.output.write_result({[&] { return report::forecast_text(stages); },
                                 [&] { return report::forecast_table(stages); },
                                 [&] { return report::forecast_json(settings, stages); }});
    return 0;
  }
  keep_freed_blocks();
  const std::unique_ptr<experiment::Store> store = options.store.open();
  const std::unique_ptr<Accelerator> accelerator = options.device.open();
  const std::unique_ptr<Progress> progress = console::make_progress();
  experiment::Evaluator evaluator({store.get()});
  const experiment::Outcome outcome = evaluator.evaluate({&settings, 1}, accelerator.get(), progress.get()).front();
  if (outcome.failure) {
    throw Error(outcome.failure->kind, outcome.failure->info);
  }
  for (const std::string& note : evaluator.notes(settings)) {
    console::note("{}", note);
  }
  console::tell("{:.3f} s", outcome.seconds);
  const experiment::Settings told = evaluator.decided(settings);
  options.output.write_result({[&] { return report::experiment_text(told, outcome); },
                               [&] { return report::experiment_rows(told, outcome); },
                               [&] { return report::experiment_json(told, outcome); }});
  return 0;
}

void declare(CLI::App& command, RunExperimentArguments& options) {
  command.add_option("experiment", options.path, "Experiment (TOML); without one, --set says all")
      ->type_name("EXPERIMENT");
  add_plain(command, "--set", options.assignments, "KEY=VALUE",
            "A key's value, over the file's; may be repeated. See rayreplay list keys", "Experiment")
      ->allow_extra_args(false);
  CLI::Option* print = command
                           .add_flag("--print-config", options.print_config,
                                     "Print the complete experiment (TOML, with comments), and compute nothing")
                           ->group("Experiment");
  command
      .add_flag("--dry-run", options.dry_run,
                "Print the stages: what is there already, an estimate of memory, and compute nothing")
      ->excludes(print)
      ->group("Experiment");
  options.store.add_to(command);
  options.device.add_to(command);
  options.output.add_to(command);
}

}  // namespace

void add_run_command(CLI::App& root, Session& session) {
  add_command(root, session, {"run", "Experiments", "One experiment: a file of keys, and what it gives"}, declare, act);
}

}  // namespace rayreplay::app
