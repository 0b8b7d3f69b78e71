// Stage "traversal": the launch's rays traced again through the rebuilt structure (sim/rays/traverse.hpp).
//
// Contract: `traverse` on the experiment's structure and packed warps; reserves the memory of a batch if memory is
// limited. Errors: those of traverse and of these stages.
#pragma once

#include "sim/engine/workbench.hpp"
#include "sim/rays/traverse.hpp"

namespace rayreplay::experiment {

/// `wanted` names traversals and takes accesses; structure, warps, device and progress come from the experiment.
[[nodiscard]] TraverseResult traverse_launch(Workbench& bench, const Experiment& experiment, TraverseOptions wanted);

}  // namespace rayreplay::experiment
