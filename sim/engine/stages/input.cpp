#include "sim/engine/stages/input.hpp"

#include "sim/engine/stage_registry.hpp"
#include "sim/launch/resolve.hpp"

namespace rayreplay::experiment {

std::shared_ptr<const InputData> input(Workbench& bench, const Experiment& experiment) {
  if (experiment.opened != nullptr) {
    return experiment.opened;
  }
  static const Stage self = stage("input");
  return bench.shared<InputData>(experiment.key(self), [&](Workbench::Working& working) {
    // A file's columns are allocated at their final size; those of a workload grow.
    working.set((experiment.facts->is_workload ? 2 : 1) * experiment.facts->memory_bytes);
    auto data = std::make_shared<const InputData>(InputCatalogue::load(*experiment.facts, bench.progress()));
    const std::uint64_t bytes = data->bytes;
    return std::pair(std::shared_ptr<const InputData>(std::move(data)), bytes);
  });
}

const trace::Launch& launch_of(const InputData& data, const Experiment& experiment) {
  const auto launch = static_cast<std::uint64_t>(experiment.settings->integer("launch"));
  return launch_of(data.trace, launch, experiment.facts->name);
}

namespace {

constexpr StageCode kCode = {
    .estimate_bytes = [](const Experiment& experiment) { return experiment.facts->memory_bytes; },
    .of_accesses = true,
    .gives_result = true,
};

const StageRegistrar kRegistrar({.name = "input",
                                 .text = "Trace, memory trace or workload: rays, events, scene; or memory accesses",
                                 .position = 0},
                                &kCode);

}  // namespace
}  // namespace rayreplay::experiment
