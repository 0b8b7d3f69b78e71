#include "sim/engine/stages/advice.hpp"

#include <utility>

#include "sim/engine/shader_accesses.hpp"
#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/assignment.hpp"
#include "sim/engine/stages/input.hpp"
#include "sim/settings/machine_settings.hpp"

namespace rayreplay::experiment {

AdviseResult advise_hints(Workbench& bench, const Experiment& experiment, AdviseOptions wanted,
                          std::optional<double> transaction_cycles) {
  const auto data = input(bench, experiment);
  wanted.hints = hints_of(*experiment.settings);
  wanted.progress = bench.progress();
  wanted.accelerator = bench.accelerator();
  check_transaction_cycles(transaction_cycles.value_or(kTransactionCycles));
  if (takes_shader_accesses(experiment)) {
    const machine::Machine machine = machine_of(*experiment.settings);
    AddressCosts costs;
    costs.units = {machine.l1_line_bytes, machine.l1_sector_bytes, experiment.settings->text("stream.image_layout")};
    costs.issue_per_cycle = machine.issue_per_cycle;
    costs.issue_origin = machine.origin("issue_per_cycle");
    costs.transaction_cycles = transaction_cycles.value_or(kTransactionCycles);
    costs.transaction_origin = transaction_cycles ? machine::Origin::Given : machine::Origin::Assumed;
    wanted.addresses = costs;
  }
  const Resolved resolved = resolved_of(*experiment.settings, data->trace, true);
  return advise(data->trace, resolved, *launch_order(bench, experiment), wanted);
}

namespace {

constexpr StageCode kCode = {};

const StageRegistrar kRegistrar(
    {.name = "advice",
     .text = "Coherence hints ranked by the SIMT efficiency that they give, or by issue slots and transactions",
     .position = 100,
     .takes = {"input"},
     .reads = {"launch", "warp_size", "order", "policy", "default_cost", "costs.*", "scheduler.model",
               "scheduler.hints", "scheduler.hint_files", "machine.name", "machine.sms", "machine.resident_warps",
               "machine.withheld_sms", "machine.issue_per_cycle", "machine.l1_line_bytes", "machine.l1_sector_bytes",
               "stream.shader_accesses", "stream.image_layout"},
     .command = "advise"},
    &kCode);

}  // namespace
}  // namespace rayreplay::experiment
