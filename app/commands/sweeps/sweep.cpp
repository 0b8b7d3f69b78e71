// rayreplay sweep: evaluates many experiments, on this machine or on many, into one database.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/device_option.hpp"
#include "app/commands/options/options.hpp"
#include "app/commands/options/store_option.hpp"
#include "app/commands/sweeps/sweep_files.hpp"
#include "app/commands/sweeps/sweep_forecast.hpp"
#include "app/commands/sweeps/sweep_view.hpp"
#include "app/console/console.hpp"
#include "app/console/signals.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/json.hpp"
#include "base/keep_memory.hpp"
#include "base/memory.hpp"
#include "base/text.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/engine/store/store.hpp"
#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/definition/paths.hpp"
#include "sim/sweep/plan/check_specs.hpp"
#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/results/rank_databases.hpp"
#include "sim/sweep/results/reader.hpp"
#include "sim/sweep/workers/mpi_session.hpp"
#include "sim/sweep/workers/refusals.hpp"
#include "sim/sweep/workers/runner.hpp"
#include "sim/sweep/workers/selection.hpp"

namespace rayreplay::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxSweepBytes = 16U << 20U;
constexpr std::uint64_t kAskAbove = 10'000;  ///< runs that need --yes
constexpr std::uint64_t kRunsAsked = 2'048;
constexpr int kSignalled = 128;  ///< plus the signal's number
constexpr int kAllFailedCode = 1;

struct SweepArguments {
  std::string path;
  std::string output;
  bool restart = false;
  bool retry_errors = false;
  bool yes = false;
  bool dry_run = false;
  bool print_config = false;
  std::vector<std::string> set;
  std::string memory;
  std::string shard;
  StoreOption store;
  std::string mpi_workers = "node";
  std::uint64_t stop_after = 0;
  double seconds = 0;
  DeviceOption device;
  FormatOption format;
};

sweep::Definition read_definition(const SweepArguments& options, const std::string& text) {
  const fs::path folder = fs::path(options.path).parent_path();
  sweep::Definition definition = sweep::parse_sweep(text, options.path, folder.string());
  const std::vector<std::string> axes = sweep::axis_keys(definition);
  for (const std::string& assignment : options.set) {
    const std::string key = assignment.substr(0, assignment.find('='));
    if (std::find(axes.begin(), axes.end(), key) != axes.end()) {
      throw Error(ErrorKind::Usage, {"the key is an axis of the sweep", "--set", key, "a key that does not vary",
                                     "change the axis in " + options.path});
    }
    sweep::set_on_base(definition, assignment, "--set");
  }
  if (options.seconds > 0) {
    definition.most_seconds = options.seconds;
  }
  return definition;
}

/// Input files: none of them may be the database.
std::vector<NamedPath> inputs_of(const SweepArguments& options, const sweep::Definition& definition) {
  std::vector<NamedPath> inputs = {{"SWEEP", options.path}};
  const auto add = [&inputs](const std::string& key, const ParameterValue& value) {
    for (const std::string& path : sweep::paths_in(key, value)) {
      inputs.push_back({key, path});
    }
  };
  for (const auto& [key, setting] : definition.base.all()) {
    add(key, setting.value);
  }
  for (const sweep::Factor& factor : definition.factors) {
    for (const sweep::Axis& axis : factor.axes) {
      std::ranges::for_each(axis.values, [&](const ParameterValue& value) { add(axis.key, value); });
    }
  }
  return inputs;
}

/// The objects of an evaluation, made once the sweep is known to be valid.
struct Workshop {
  std::unique_ptr<experiment::Store> store;
  std::unique_ptr<experiment::Evaluator> evaluator;
  std::uint64_t under_way_bytes = 0;

  Workshop(const SweepArguments& options, std::uint32_t processes)
      : store(options.dry_run ? options.store.open_existing() : options.store.open()) {
    std::uint64_t memory = options.memory.empty() ? 0 : parse_bytes(options.memory, "--memory");
    if (memory == 0) {
      memory = available_memory() / processes;
      memory -= memory / 4;  // reserve for the system and for errors of the estimate
    }
    if (options.memory.empty()) {
      keep_freed_blocks();
    } else {
      keep_small_blocks();
    }
    experiment::EvaluatorOptions evaluator_options;
    evaluator_options.store = store.get();
    evaluator_options.memory_bytes = memory;  // without the memory that running units need themselves
    under_way_bytes = memory;
    evaluator = std::make_unique<experiment::Evaluator>(evaluator_options);
  }
};

std::string axes_text(const sweep::Plan& plan) {
  return plan.keys().empty() ? "none" : fmt::format("{}", fmt::join(plan.keys(), ", "));
}

int print_config(const sweep::Definition& definition) {
  std::string text;
  for (const std::string& key : sweep::axis_keys(definition)) {
    text += fmt::format("# axis: {}\n", text::printable(key));
  }
  console::print(text + experiment::to_toml(experiment::complete(definition.base), true));
  return 0;
}

/// Finished runs of a database; none if it does not exist.
std::uint64_t count_finished(const std::string& database, bool retry_errors) {
  std::error_code ignored;
  if (!fs::exists(database, ignored)) {
    return 0;
  }
  const sweep::ResultsReader reader(database);
  return reader.count() - (retry_errors ? reader.failures() : reader.retries());
}

int dry_run(const SweepArguments& options, const sweep::Plan& plan, const std::string& database, std::uint64_t wanted) {
  const output::Format format = options.format.format();
  Workshop workshop(options, 1);
  sweep::require_possible(plan, sweep::work_of(*workshop.evaluator));
  const SweepForecast forecast = forecast_sweep(plan, *workshop.evaluator, kRunsAsked);
  const std::uint64_t finished = count_finished(database, options.retry_errors);
  const output::Table stages = forecast_table(forecast);
  if (format == output::Format::Csv) {
    console::print(output::to_csv(stages));
    return 0;
  }
  if (format == output::Format::Json) {
    nlohmann::ordered_json json{{"schema", "rayreplay.sweep-forecast/2"},
                                {"sweep", options.path},
                                {"database", database},
                                {"definition_hash", sweep::definition_hash(plan.definition())},
                                {"axes", plan.keys()},
                                {"runs", plan.runs()},
                                {"runs_wanted", wanted},
                                {"runs_finished", finished},
                                {"runs_dropped", plan.dropped()},
                                {"units", plan.units().size()},
                                {"run_memory_bytes", forecast.run_memory_bytes},
                                {"runs_asked", forecast.runs_asked},
                                {"runs_not_judged", forecast.runs_not_judged}};
    json["stages"] = output::to_json(stages);
    console::print(json_text(json, 2) + "\n");
    return 0;
  }
  std::string text = fmt::format("sweep      {}\naxes       {}\nruns       {}", text::printable(options.path),
                                 text::printable(axes_text(plan)), with_separators(plan.runs()));
  text += plan.dropped() > 0 ? fmt::format(" ({} more dropped by conditions)\n", with_separators(plan.dropped()))
                             : std::string("\n");
  if (wanted != plan.runs()) {
    text += fmt::format("asked for  {}\n", with_separators(wanted));
  }
  text += fmt::format("finished   {} in {}\nunits      {}\nmemory     about {} for the largest run\n\n",
                      with_separators(finished), text::printable(database), with_separators(plan.units().size()),
                      output::bytes_text(forecast.run_memory_bytes));
  text += output::to_text(stages);
  if (forecast.runs_not_judged > 0) {
    text += fmt::format(
        "\nwithout an estimate: {} of {} in the sample: {}\n", with_separators(forecast.runs_not_judged),
        counted(forecast.runs_not_judged + forecast.runs_asked, "run"), text::printable(forecast.first_reason));
  }
  console::print(text);
  return 0;
}

/// Number of runs that this command covers, finished or not.
std::uint64_t wanted_runs(const SweepArguments& options, const sweep::Plan& plan, const Shard& shard) {
  const sweep::Selection selection =
      sweep::select_units(plan.units(), {}, {shard.index, shard.count, plan.definition().most_runs, 0});
  return options.stop_after > 0 ? std::min(options.stop_after, selection.total) : selection.total;
}

void require_yes(const SweepArguments& options, std::uint64_t wanted) {
  if (!options.yes && wanted > kAskAbove) {
    throw Error(ErrorKind::Usage,
                {"the sweep is a large one", options.path, counted(wanted, "run"),
                 fmt::format("at most {} without --yes", with_separators(kAskAbove)),
                 "add --yes to run it; --dry-run prints an estimate, and --stop-after N runs a part"});
  }
}

/// The database's content at the end.
struct Kept {
  std::uint64_t rows = 0, failed = 0;

  explicit Kept(const std::string& database) {
    const sweep::ResultsReader reader(database);
    rows = reader.count();
    failed = reader.failures();
  }
};

void tell_end(const SweepArguments& options, const sweep::SweepReport& report, const std::string& database,
              const sweep::Definition& definition, const Kept& kept) {
  const sweep::Standing& standing = report.standing;
  std::string line = fmt::format("{} of {} {} in {}", with_separators(standing.done), counted(standing.total, "run"),
                                 standing.done == 1 ? "is" : "are", database);
  if (kept.failed > 0) {
    line += fmt::format(" ({} failed", with_separators(kept.failed));
    line += standing.failed > 0 ? fmt::format(", {} of them now)", with_separators(standing.failed)) : ")";
  }
  line += " after " + duration_text(standing.seconds);
  switch (report.end) {
    case sweep::SweepEnd::Finished:
      break;
    case sweep::SweepEnd::Stopped:
      line += "; stopped as asked";
      break;
    case sweep::SweepEnd::TimeOver:
      line += "; the time is over";
      break;
    case sweep::SweepEnd::CountReached:
      line += "; the limit on runs is reached";
      break;
  }
  console::tell("{}", line);
  if (report.end != sweep::SweepEnd::Finished) {
    console::log("rayreplay: the same command goes on");
  }
  if (kept.failed > 0) {
    console::tell("see the errors:    rayreplay results {} --errors", database);
    console::log("rayreplay: try them again:    the same command with --retry-errors");
  }
  if (!options.shard.empty()) {
    console::log("rayreplay: join the shards:    rayreplay merge -o all.db SHARD.db …");
  }
  if (definition.objective) {
    if (standing.has_best) {
      console::tell("best {} so far: {:.6g} (run {})", definition.objective->metric, standing.best, standing.best_run);
    }
    console::tell("see the best:      rayreplay results {} best {}", database, definition.objective->metric);
  } else {
    console::tell("see the results:   rayreplay results {}", database);
  }
}

/// The processes of the sweep; a team of one without MPI.
struct Ranks {
  std::unique_ptr<sweep::MpiSession> session;

  explicit Ranks(const SweepArguments& options) {
    if (sweep::mpi_launch().asked) {
      session = sweep::MpiSession::begin(options.mpi_workers == "node");
    }
  }
  [[nodiscard]] bool leads() const {
    return session == nullptr || session->rank() == 0;
  }
  [[nodiscard]] bool works() const {
    return session == nullptr || session->works();
  }
  [[nodiscard]] std::uint32_t processes_here() const {
    return session == nullptr ? 1 : static_cast<std::uint32_t>(session->node_workers());
  }
  [[nodiscard]] std::uint32_t threads() const {
    // --threads, or all processors.
    auto allowed =
        static_cast<std::uint32_t>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
    return session == nullptr ? allowed : std::min(allowed, session->cores());
  }
};

/// The command, in steps that all ranks run together.
class SweepCommand {
 public:
  SweepCommand(const SweepArguments& options, Ranks& ranks) : options_(options), ranks_(ranks) {}

  int act() {
    step([this] { prepare(); });
    if (options_.print_config || options_.dry_run) {
      step([this] {
        if (ranks_.leads()) {
          describe();
        }
      });
      return 0;
    }
    const std::uint32_t threads = ranks_.threads();
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    step([&] { equip(threads); });
    if (team() == nullptr) {
      open_results();
    } else {
      runner_.finished = sweep::agree_on_sweep(*team(), *plan_, [this] {
        open_results();
        return results_->finished(options_.retry_errors);
      });
    }
    step([this] {
      if (!ranks_.leads() && ranks_.works()) {
        open_rank_results();
      }
    });
    step([this] { evaluate(); });
    step([this] {
      if (ranks_.leads() && team() != nullptr) {
        join_ranks();
      }
    });
    if (!ranks_.leads()) {
      return leave(0);
    }
    results_.reset();
    const Kept kept(database_);
    tell_end(options_, report_, database_, plan_->definition(), kept);
    int code = kept.rows > 0 && kept.failed == kept.rows ? kAllFailedCode : 0;
    if (report_.end == sweep::SweepEnd::Stopped) {
      // The stop may have been requested on another rank.
      const int number = console::stop_signal();
      code = kSignalled + (number != 0 ? number : SIGINT);
    }
    return leave(code);
  }

 private:
  [[nodiscard]] sweep::Team* team() const {
    return ranks_.session.get();
  }

  void step(const std::function<void()>& what) {
    sweep::in_step(team(), [&] {
      what();
      return sweep::Texts{};
    });
  }

  void prepare() {
    shard_ = parse_shard(options_.shard);
    database_ = database_path(options_.path, options_.output, shard_, !options_.print_config && !options_.dry_run);
    runner_.stop_requested = console::stop_requested;
    runner_.team = team();
    runner_.shard = shard_.index;
    runner_.shards = shard_.count;
    runner_.retry_errors = options_.retry_errors;
    runner_.most_now = options_.stop_after;
    text_ = read_text_file(options_.path, kMaxSweepBytes);
    sweep::Definition definition = read_definition(options_, text_);
    if (team() != nullptr && shard_.count > 1) {
      throw Error(ErrorKind::Usage, {"the option does not go with MPI", "--shard", options_.shard, "",
                                     "leave it out: MPI distributes the runs"});
    }
    require_distinct({{"--output", database_}}, inputs_of(options_, definition));
    if (options_.print_config) {
      sweep::check_specs(definition);
      definition_ = std::move(definition);
    } else {
      plan_.emplace(std::move(definition));
    }
  }

  void describe() {
    if (options_.print_config) {
      print_config(definition_);
    } else {
      dry_run(options_, *plan_, database_, wanted_runs(options_, *plan_, shard_));
    }
  }

  void equip(std::uint32_t threads) {
    if (!ranks_.works()) {
      return;
    }
    workshop_.emplace(options_, ranks_.processes_here());
    runner_.threads = threads;
    runner_.memory_bytes = workshop_->under_way_bytes;
    if (ranks_.leads()) {
      require_yes(options_, wanted_runs(options_, *plan_, shard_));
      sweep::require_possible(*plan_, sweep::work_of(*workshop_->evaluator));
    }
    const std::uint32_t part = ranks_.session == nullptr ? 0 : static_cast<std::uint32_t>(ranks_.session->node_rank());
    runner_.accelerators = options_.device.open_each(part, ranks_.processes_here());
  }

  [[nodiscard]] sweep::About about() const {
    const sweep::Definition& definition = plan_->definition();
    sweep::About about;
    about.definition_hash = sweep::definition_hash(definition);
    about.sweep = text_;
    about.runs = plan_->runs();
    about.axes = plan_->keys();
    if (definition.objective) {
      about.objective =
          (definition.objective->goal == experiment::Goal::Less ? "less " : "more ") + definition.objective->metric;
    }
    about.folder = fs::absolute(options_.path).lexically_normal().parent_path().string();
    about.shard = fmt::format("{}/{}", shard_.index + 1, shard_.count);
    return about;
  }

  void open_results() {
    results_ = std::make_unique<sweep::ResultsWriter>(database_, about(), options_.restart);
    sweep::join_rank_databases(*results_, database_, about(), options_.restart);
  }

  /// For ranks other than 0: the place where rank 0 will look for the database.
  void open_rank_results() {
    std::error_code ignored;
    if (!fs::exists(database_, ignored)) {
      throw Error(ErrorKind::Output, {"the database of rank 0 is not visible on this machine", database_, "", "",
                                      "name a folder that all machines share with -o, or use --shard i/N"});
    }
    results_ =
        std::make_unique<sweep::ResultsWriter>(sweep::rank_database(database_, ranks_.session->rank()), about(), true);
  }

  void evaluate() {
    if (!ranks_.works()) {
      sweep::attend_sweep(*team());
      return;
    }
    if (!ranks_.leads()) {
      report_ = sweep::run_sweep(*plan_, *workshop_->evaluator, *results_, runner_);
      results_.reset();
      return;
    }
    SweepView view(plan_->definition());
    runner_.show = [&view](const sweep::Standing& standing) { view.show(standing); };
    report_ = sweep::run_sweep(*plan_, *workshop_->evaluator, *results_, runner_);
    runner_.show = {};
    view.show(report_.standing);
  }

  void join_ranks() {
    sweep::join_rank_databases(*results_, database_, about(), false);
    if (const auto& objective = plan_->definition().objective) {
      if (const auto best = results_->best(objective->metric, objective->goal)) {
        report_.standing.has_best = true;
        report_.standing.best = best->value;
        report_.standing.best_run = best->run;
      }
    }
  }

  /// Objects in use by running units are not destroyed.
  int leave(int code) {
    if (report_.abandoned) {
      ranks_.session.reset();
      std::_Exit(code);
    }
    return code;
  }

  const SweepArguments& options_;
  Ranks& ranks_;
  Shard shard_;
  std::string database_, text_;
  sweep::Definition definition_;
  std::optional<sweep::Plan> plan_;
  std::optional<Workshop> workshop_;
  sweep::RunnerOptions runner_;
  std::unique_ptr<sweep::ResultsWriter> results_;
  sweep::SweepReport report_;
};

int act(const SweepArguments& options) {
  console::forward_signals_to(console::kRequestStopOnce);
  Ranks ranks(options);
  try {
    return SweepCommand(options, ranks).act();
  } catch (const sweep::RankFailed&) {
    return 0;  // rank 0 reports it
  }
}

}  // namespace

void add_sweep_command(CLI::App& root, Session& session) {
  // CLI11's ranges let NaN pass, and "-1" becomes a large number; only an omitted option means no limit.
  const CLI::Validator above_zero(
      [](std::string& text) {
        double value = 0;
        return CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value > 0
                   ? std::string()
                   : "'" + text + "' is no number above 0";
      },
      "");
  CLI::App* command = root.add_subcommand("sweep", "Many experiments: every configuration that a sweep file names");
  command->group("Experiments");
  auto options = std::make_shared<SweepArguments>();
  command->add_option("SWEEP", options->path, "Sweep file (TOML)")->type_name("FILE")->required();
  add_plain(*command, "-o,--output", options->output, "FILE", "Database of the results [the sweep's name with .db]",
            "Output");
  command->add_flag("--restart", options->restart, "Discard the database's rows and start again")->group("Output");
  command->add_flag("--retry-errors", options->retry_errors, "Evaluate configurations that failed once more")
      ->group("Output");
  command->add_option("--set", options->set, "Change a key that is no axis, for all configurations; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--yes", options->yes, fmt::format("Begin a sweep of more than {} runs", kAskAbove));
  command->add_flag("--dry-run", options->dry_run, "Print the number of runs and an estimate of their needs, and stop");
  command->add_flag("--print-config", options->print_config, "Print the resolved base experiment (TOML), and stop");
  add_plain(*command, "--stop-after", options->stop_after, "N", "Evaluate N configurations and stop", "Stop")
      ->check(above_zero);
  add_plain(*command, "--seconds", options->seconds, "SECONDS", "Start no run after this time [the sweep file's limit]",
            "Stop")
      ->check(above_zero);
  add_plain(*command, "--memory", options->memory, "SIZE",
            "Memory to use at most, such as 16GiB [three quarters of what is free]", "Workers");
  add_plain(*command, "--shard", options->shard, "i/N", "Only part i of N, counted from 1: for independent jobs",
            "Workers");
  add_value(*command, "--mpi-workers", options->mpi_workers, "node|rank",
            "Under mpirun: one working process a node, or every rank", "Workers")
      ->check(CLI::IsMember({"node", "rank"}));
  options->store.add_to(*command);
  options->device.add_to(*command);
  options->format.add_to(*command);
  command->callback([&session, options] { session.action = [options] { return act(*options); }; });
}

}  // namespace rayreplay::app
