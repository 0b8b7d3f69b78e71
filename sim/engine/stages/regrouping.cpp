#include "sim/engine/stages/regrouping.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/assignment.hpp"
#include "sim/engine/stages/input.hpp"
#include "sim/engine/stages/model.hpp"

namespace rayreplay::experiment {
namespace {

constexpr const char* kSchedulerModel = "scheduler.model";
constexpr const char* kDistribution = "schedule.distribution";

/// Memory of segments and schedule: 14 bytes a segment and 4 a place, for two segments a ray.
std::uint64_t regrouped_bytes(const Experiment& experiment) {
  constexpr std::uint64_t kOfARay = 48;
  constexpr std::uint64_t kOfAThread = 8;
  return regroups(*experiment.settings)
             ? experiment.launch().rays * kOfARay + experiment.launch().size.threads() * kOfAThread
             : 0;
}

/// Costs decide the warps of timed models alone.
bool uses_key(const Settings& complete, std::string_view key) {
  constexpr std::array kOfTime{"policy", "scheduler.cost_source", "scheduler.cycles_per_instruction",
                               "scheduler.steps_per_ray", "scheduler.replay_steps"};
  const bool of_time = std::ranges::find(kOfTime, key) != kOfTime.end() || key.starts_with("shader_costs.");
  return !of_time || is_timed(complete.text(kSchedulerModel));
}

}  // namespace

bool regroups(const Settings& complete) {
  return is_switched_on(complete, kSchedulerModel);
}

void require_regrouping(const Settings& complete, bool memory) {
  if (!regroups(complete)) {
    return;
  }
  const std::string model = parse_spec(complete.text(kSchedulerModel)).name;
  const std::string place = place_of(complete.where(kSchedulerModel), kSchedulerModel);
  if (memory) {
    throw Error(ErrorKind::Usage,
                {"a memory trace has no threads that a scheduler model could regroup", place, "'" + model + "'",
                 "plain", "leave the model out, or give a trace of a launch (.rrt)"});
  }
  require_warps(model, place);
  const std::string distribution = parse_spec(complete.text(kDistribution)).name;
  if (distribution != "auto" && distribution != "launch") {
    throw Error(ErrorKind::Usage, {"the scheduler model places the warps itself",
                                   place_of(complete.where(kDistribution), kDistribution) + ", " + place,
                                   "distribution '" + distribution + "' with model '" + model + "'", "launch (or auto)",
                                   "leave the work distribution out, or take the model plain"});
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
    const auto packed = assignment(bench, experiment);
    const Resolved resolved = resolved_of(settings, data->trace, false);
    CompareOptions of_model = is_timed(model) ? model_options(bench, experiment) : compare_of(settings);
    RegroupOptions options;
    options.machine = std::move(of_model.machine);
    options.resident_warps = interleaving_of(settings, options.machine, resolved.warp_size).resident_warps;
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

const StageRegistrar kRegistrar({.name = "regrouping",
                                 .text = "The launch's warps under the scheduler model: who runs with whom, and where",
                                 .position = 55,
                                 .takes = {"input", "assignment"},
                                 .takes_if = {{"structure", "scheduler.replay_steps"}}},
                                &kCode);

}  // namespace
}  // namespace rayreplay::experiment
