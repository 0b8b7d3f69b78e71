#include "sim/engine/stages/model.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/trace/launch_scene.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/engine/machine_room.hpp"
#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/assignment.hpp"
#include "sim/engine/stages/input.hpp"
#include "sim/engine/stages/structure.hpp"
#include "sim/settings/thread_registers.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::uint64_t kEventBytes = 40;
constexpr const char* kModel = "scheduler.model";
constexpr const char* kScheduleFileKey = "scheduler.file";
constexpr const char* kReplaySteps = "scheduler.replay_steps";

std::uint64_t estimated_bytes(const Experiment& experiment) {
  return experiment.launch().events * kEventBytes;
}

Key steps_key(const Experiment& experiment) {
  static const Stage kStructure = stage("structure");
  return KeyMaker()
      .add("ray steps")
      .add(experiment.key(kStructure))
      .add(std::to_string(experiment.settings->integer("launch")))
      .key();
}

/// Visits of each ray in the structure.
std::shared_ptr<const std::vector<std::uint32_t>> ray_steps(Workbench& bench, const Experiment& experiment) {
  using Steps = std::vector<std::uint32_t>;
  return bench.shared<Steps>(steps_key(experiment), [&] {
    const auto data = input(bench, experiment);
    const trace::Launch& launch = launch_of(*data, experiment);
    trace::require_scene(data->trace.scene, launch,
                         fmt::format("{}:/launch/{}", experiment.facts->name, experiment.settings->integer("launch")),
                         "give the steps per ray by hand");
    const auto built = structure(bench, experiment);
    auto steps = std::make_shared<const Steps>(machine::count_ray_steps(launch, built->bvh, bench.progress()));
    const std::uint64_t bytes = steps->size() * sizeof(std::uint32_t);
    return std::pair(std::move(steps), bytes);
  });
}

MetricSet metrics_of(const CompareRow& row, const CompareResult& result) {
  MetricSet metrics;
  metrics.add("model_cycles", row.timing.cycles);
  metrics.add("model_milliseconds", row.timing.milliseconds);
  metrics.add("model_speed_up", row.speed_up);
  metrics.add("model_efficiency", row.efficiency);
  metrics.add_count("model_segments", row.segments);
  if (row.rounds > 0) {  // timed models and bounds have none
    metrics.add_count("model_rounds", row.rounds);
  }
  if (row.grouping != scheduler::Grouping::Bound) {  // a bound has no warps
    const double all = row.timing.cycles * result.machine.sms;
    const auto share = [all](double part) { return all > 0 ? part / all : 0.0; };
    metrics.add_count("model_warps", row.warps);
    const profile::PathTally by_path = row.paths.all();
    if (const auto efficiency = by_path.efficiency(result.configuration.warp_size)) {
      metrics.add("model_path_efficiency", *efficiency);
      metrics.add("model_path_share", *by_path.known());
    }
    metrics.add_count("model_moved_threads", row.moved);
    metrics.add("model_busy_share", row.timing.busy_share);
    metrics.add("model_idle_share", share(row.timing.split.idle));
    metrics.add("model_reorder_share", share(row.timing.split.reorder));
    metrics.add("model_traffic_bytes", row.timing.traffic_bytes);
  }
  return metrics;
}

std::vector<Made> make_numbers(Workbench& bench, std::span<const Experiment* const> members) {
  CompareOptions wanted;
  wanted.break_even = false;
  for (const Experiment* member : members) {
    wanted.models.push_back(scheduler::SchedulerModels::create(member->settings->text(kModel)).spec);
  }
  const CompareResult result = compare_models(bench, *members.front(), wanted);
  std::vector<Made> made;
  made.reserve(wanted.models.size());
  for (const std::string& spec : wanted.models) {
    made.emplace_back(metrics_of(*std::ranges::find(result.rows, spec, &CompareRow::model), result));
  }
  return made;
}

}  // namespace

CompareOptions model_options(Workbench& bench, const Experiment& experiment) {
  CompareOptions options = compare_of(*experiment.settings);
  if (experiment.settings->flag(kReplaySteps)) {
    options.costs.ray_steps = *ray_steps(bench, experiment);
  }
  return options;
}

machine::LiveState live_state_for(Workbench& bench, const Experiment& experiment, std::span<const std::string> models) {
  return std::ranges::none_of(models, machine::depends_on_live_state) ? machine::LiveState()
                                                                      : shaders_state(bench, experiment);
}

machine::LiveState shaders_state(Workbench& bench, const Experiment& experiment) {
  static const Stage kInput = stage("input");
  const Key key = KeyMaker()
                      .add("live state")
                      .add(experiment.key(kInput))
                      .add(std::to_string(experiment.settings->integer("launch")))
                      .key();
  return *bench.shared<machine::LiveState>(key, [&] {
    const auto data = input(bench, experiment);
    return std::pair(
        std::make_shared<const machine::LiveState>(machine::live_state(data->trace, launch_of(*data, experiment))),
        std::uint64_t{sizeof(machine::LiveState)});
  });
}

CompareResult compare_models(Workbench& bench, const Experiment& experiment, CompareOptions wanted) {
  const Settings& settings = *experiment.settings;
  const auto data = input(bench, experiment);
  const auto packed = assignment(bench, experiment);
  CompareOptions options = model_options(bench, experiment);
  bench.free_device();
  const Workbench::Working working(bench.kept(), estimated_bytes(experiment));
  options.models = std::move(wanted.models);
  options.live_state = live_state_for(bench, experiment, options.models);
  options.given_parameters = std::move(wanted.given_parameters);
  options.break_even = wanted.break_even;
  options.sensitivity = wanted.sensitivity;
  options.response = wanted.response;
  options.placement = wanted.placement;
  options.observe = std::move(wanted.observe);
  options.progress = bench.progress();
  options.accelerator = bench.accelerator();
  return compare(data->trace, resolved_of(settings, data->trace, true), *packed, options);
}

namespace {

/// The output is of a scheduler model; a schedule from a file has none, and its costs are not in the file.
void check_model(const Experiment& experiment) {
  const Settings& settings = *experiment.settings;
  if (const std::string& file = settings.text(kScheduleFileKey); !file.empty()) {
    throw Error(ErrorKind::Usage,
                {"the output model is of a scheduler model, not of a schedule from a file",
                 place_of(settings.where(kScheduleFileKey), kScheduleFileKey), "'" + file + "'", "scheduler.model",
                 "leave the output model out (time and cache take schedules), or leave the file out"});
  }
  require_shading_sms(settings);
  require_registers(settings, decisions(settings, *experiment.facts).warp_size);
}

std::vector<std::string> model_notes(const Experiment& experiment) {
  std::string registers = note_on_registers(*experiment.settings);
  return registers.empty() ? std::vector<std::string>() : std::vector{std::move(registers)};
}

constexpr StageCode kCode = {
    .estimate_bytes = estimated_bytes,
    .numbers = make_numbers,
    .check = check_model,
    .notes = model_notes,
};

const StageRegistrar kRegistrar(
    {.name = "model",
     .text = "The launch under the scheduler model on the machine: time and what it goes into",
     .position = 40,
     .takes = {"input", "assignment"},
     .takes_if = {{"structure", kReplaySteps}},
     .format = 6,
     .metrics =
         {
             {"model_cycles", "", "cycles", "Time of the launch under the scheduler model", Goal::Less},
             {"model_milliseconds", "", "ms", "The same, by the machine's clock", Goal::Less},
             {"model_speed_up", "", "", "Time under the model plain divided by this one's", Goal::More},
             {"model_efficiency", "", "share", "SIMT efficiency under the scheduler model", Goal::More},
             {"model_path_efficiency", "", "share", "The same by instruction, from paths of calls", Goal::More},
             {"model_path_share", "", "share", "Active lanes whose warp events have paths: what it counts", Goal::None},
             {"model_warps", "", "warps", "Warps of segments that ran", Goal::None},
             {"model_segments", "", "segments", "Parts of threads between exchanges", Goal::None},
             {"model_rounds", "", "rounds", "Most rounds of a unit; timed models and bounds have none", Goal::None},
             {"model_moved_threads", "", "threads", "Threads whose state moved, summed over exchanges", Goal::Less},
             {"model_busy_share", "", "share",
              "Running warps over warps that the SM can hold, mean over time and shading SMs", Goal::More},
             {"model_idle_share", "", "share", "SM-cycles in which an SM has nothing to run", Goal::Less},
             {"model_reorder_share", "", "share", "SM-cycles spent on exchanging threads", Goal::Less},
             {"model_traffic_bytes", "", "bytes", "Memory traffic of exchanges", Goal::Less},
         },
     .rank = 2,
     .varies = {kModel},
     .unit_weight = 4,
     .large_units = true},
    &kCode);

}  // namespace
}  // namespace rayreplay::experiment
