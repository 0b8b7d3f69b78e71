// Stage "advice": which coherence hint would raise SIMT efficiency most (sim/comparison/advise.hpp).
//
// Contract: runs the search on the experiment's launch, its threads in warps by the launch order alone. Errors: those
// of `advise` and of the settings.
#pragma once

#include "sim/comparison/advise.hpp"
#include "sim/engine/workbench.hpp"

namespace rayreplay::experiment {

/// `wanted` gives the time limit, model and machine; hints, device and progress come from the experiment.
[[nodiscard]] AdviseResult advise_hints(Workbench& bench, const Experiment& experiment, AdviseOptions wanted);

}  // namespace rayreplay::experiment
