// Stage "input": the decoded trace, memory trace or workload that an experiment starts from.
#pragma once

#include <memory>

#include "sim/engine/workbench.hpp"

namespace rayreplay::experiment {

[[nodiscard]] std::shared_ptr<const InputData> input(Workbench& bench, const Experiment& experiment);

/// The experiment's launch. Usage where the trace has no launch of the number.
[[nodiscard]] const trace::Launch& launch_of(const InputData& data, const Experiment& experiment);

}  // namespace rayreplay::experiment
