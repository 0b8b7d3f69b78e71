#include "sim/engine/stages/advice.hpp"

#include <utility>

#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/assignment.hpp"
#include "sim/engine/stages/input.hpp"

namespace rayreplay::experiment {

AdviseResult advise_hints(Workbench& bench, const Experiment& experiment, AdviseOptions wanted) {
  const auto data = input(bench, experiment);
  wanted.hints = hints_of(*experiment.settings);
  wanted.progress = bench.progress();
  wanted.accelerator = bench.accelerator();
  const Resolved resolved = resolved_of(*experiment.settings, data->trace, true);
  return advise(data->trace, resolved, *launch_order(bench, experiment), wanted);
}

namespace {

constexpr StageCode kCode = {};

const StageRegistrar kRegistrar({.name = "advice",
                                 .text = "Coherence hints ranked by the SIMT efficiency that they give",
                                 .position = 100,
                                 .takes = {"input"},
                                 .reads = {"launch", "warp_size", "order", "policy", "default_cost", "costs.*",
                                           "scheduler.model", "scheduler.hints", "scheduler.hint_files", "machine.name",
                                           "machine.sms", "machine.resident_warps", "machine.withheld_sms"},
                                 .command = "advise"},
                                &kCode);

}  // namespace
}  // namespace rayreplay::experiment
