// Stage "input": the decoded trace, memory trace or workload that an experiment starts from.
//
// Contract: decoded once for all experiments that share it. Errors: those of InputCatalogue::load (stage_input.hpp).
#pragma once

#include <memory>

#include "sim/engine/workbench.hpp"

namespace rayreplay::experiment {

[[nodiscard]] std::shared_ptr<const InputData> input(Workbench& bench, const Experiment& experiment);

/// The experiment's launch. Usage if the trace has no launch with this number.
[[nodiscard]] const trace::Launch& launch_of(const InputData& data, const Experiment& experiment);

}  // namespace rayreplay::experiment
