// Stage "advice": which coherence hint would raise SIMT efficiency most (sim/comparison/advise.hpp).
#pragma once

#include "sim/comparison/advise.hpp"
#include "sim/engine/workbench.hpp"

namespace rayreplay::experiment {

/// `wanted` says how long to search, the model, and the machine's facts; hints, device and progress are the
/// experiment's.
[[nodiscard]] AdviseResult advise_hints(Workbench& bench, const Experiment& experiment, AdviseOptions wanted);

}  // namespace rayreplay::experiment
