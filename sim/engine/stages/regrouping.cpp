#include "sim/engine/stages/regrouping.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/assignment.hpp"
#include "sim/engine/stages/input.hpp"
#include "sim/engine/stages/model.hpp"
#include "sim/engine/stages/stream.hpp"
#include "sim/launch/schedule_file.hpp"
#include "sim/settings/machine_settings.hpp"

namespace rayreplay::experiment {
namespace {

constexpr const char* kSchedulerModel = "scheduler.model";
constexpr const char* kFile = "scheduler.file";
constexpr const char* kDistribution = "schedule.distribution";

/// Memory of segments and schedule: 14 bytes a segment and 4 a place, for two segments a ray.
std::uint64_t regrouped_bytes(const Experiment& experiment) {
  constexpr std::uint64_t kOfARay = 48;
  constexpr std::uint64_t kOfAThread = 8;
  return regroups(*experiment.settings)
             ? experiment.launch().rays * kOfARay + experiment.launch().size.threads() * kOfAThread
             : 0;
}

/// Closed loop: the warps of a timed model form while the accesses are interleaved.
bool has_closed_loop(const Settings& complete) {
  return has_memory_time(complete) && is_timed(complete.text(kSchedulerModel));
}

/// Costs decide the warps of timed models alone, and in a closed loop later; a schedule from a file depends on nothing
/// else.
bool uses_key(const Settings& complete, std::string_view key) {
  if (key == "stream.payload_bytes") {
    return is_payload_in_registers(complete);  // any other size leaves the same live state
  }
  if (!complete.text(kFile).empty()) {
    return key == kFile || key == "machine.sms";
  }
  constexpr std::array kOfTime{"policy", "scheduler.cost_source", "scheduler.cycles_per_instruction",
                               "scheduler.steps_per_ray", "scheduler.replay_steps"};
  const bool timed = is_timed(complete.text(kSchedulerModel));
  if (key == kTimeKey) {
    return timed;
  }
  const bool of_time = std::ranges::find(kOfTime, key) != kOfTime.end() || key.starts_with("shader_costs.");
  return !of_time || (timed && !has_memory_time(complete));
}

}  // namespace

bool regroups(const Settings& complete) {
  return is_switched_on(complete, kSchedulerModel) || is_switched_on(complete, kFile);
}

void require_regrouping(const Settings& complete, bool memory) {
  if (!regroups(complete)) {
    return;
  }
  const std::string model = parse_spec(complete.text(kSchedulerModel)).name;
  const std::string place_of_model = place_of(complete.where(kSchedulerModel), kSchedulerModel);
  const std::string place_of_file = place_of(complete.where(kFile), kFile);
  const std::string& file = complete.text(kFile);
  if (!file.empty() && is_switched_on(complete, kSchedulerModel)) {
    throw Error(ErrorKind::Usage,
                {"the warps come from a scheduler model and from a file", place_of_model + ", " + place_of_file,
                 fmt::format("'{}' and '{}'", model, file), "one of the two", "leave one out"});
  }
  const std::string place = file.empty() ? place_of_model : place_of_file;
  const std::string who = file.empty() ? "scheduler model" : "schedule";
  const std::string source = file.empty() ? "model '" + model + "'" : "schedule '" + file + "'";
  if (memory) {
    throw Error(ErrorKind::Usage, {fmt::format("a memory trace has no threads that a {} could regroup", who), place,
                                   source, "plain, and no file", "leave it out, or give a trace of a launch (.rrt)"});
  }
  if (file.empty()) {
    require_warps(model, place);
  }
  const std::string distribution = parse_spec(complete.text(kDistribution)).name;
  if (distribution != "auto" && distribution != "launch") {
    throw Error(ErrorKind::Usage, {fmt::format("the {} places the warps itself", who),
                                   place_of(complete.where(kDistribution), kDistribution) + ", " + place,
                                   fmt::format("distribution '{}' with {}", distribution, source), "launch (or auto)",
                                   "leave the work distribution out, or take the model plain and no file"});
  }
}

std::shared_ptr<const RegroupedLaunch> regrouping(Workbench& bench, const Experiment& experiment) {
  static const Stage self = stage("regrouping");
  const Settings& settings = *experiment.settings;
  if (!regroups(settings)) {
    return nullptr;
  }
  return bench.shared<RegroupedLaunch>(experiment.key(self), [&](Workbench::Working& working) {
    const std::string& model = settings.text(kSchedulerModel);
    const auto data = input(bench, experiment);
    const Resolved resolved = resolved_of(settings, data->trace, false);
    if (const std::string& file = settings.text(kFile); !file.empty()) {
      working.set(regrouped_bytes(experiment));
      auto read = std::make_shared<RegroupedLaunch>(
          read_schedule(file, data->trace, {resolved.launch, resolved.warp_size, machine_of(settings).sms}));
      if (!is_payload_in_registers(settings)) {
        leave_out_payload(*read);
      }
      const std::uint64_t bytes = read->bytes();
      return std::pair(std::shared_ptr<const RegroupedLaunch>(std::move(read)), bytes);
    }
    const auto packed = assignment(bench, experiment);
    RegroupOptions options;
    options.closed_loop = has_closed_loop(settings);
    CompareOptions of_model =
        is_timed(model) && !options.closed_loop ? model_options(bench, experiment) : compare_of(settings);
    options.machine = std::move(of_model.machine);
    options.resident_warps = interleaving_of(settings, options.machine, resolved.warp_size).resident_warps;
    const machine::LiveState state = live_state_for(bench, experiment, {&model, 1});
    options.live_state_bytes = (is_payload_in_registers(settings) ? state : state.besides_payload()).bytes;
    options.hints = std::move(of_model.hints);
    options.costs = std::move(of_model.costs);
    options.policy = resolved.policy;
    options.on_device = bench.on_device(data, resolved.launch);
    options.progress = bench.progress();
    working.set(regrouped_bytes(experiment));
    auto made = std::make_shared<const RegroupedLaunch>(
        regroup_launch(data->trace, data->trace.launches[resolved.launch], *packed, model, options));
    const std::uint64_t bytes = made->bytes();
    return std::pair(std::move(made), bytes);
  });
}

namespace {

constexpr StageCode kCode = {
    .estimate_bytes = regrouped_bytes,
    .gives_result = true,
    .uses_key = uses_key,
};

const StageRegistrar kRegistrar(
    {.name = "regrouping",
     .text = "The launch's warps under the scheduler model: which segments run together, and where",
     .position = 55,
     .takes = {"input", "assignment"},
     .takes_if = {{"structure", "scheduler.replay_steps"}}},
    &kCode);

}  // namespace
}  // namespace rayreplay::experiment
