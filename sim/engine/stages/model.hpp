// Stage "model": scheduler models compared on the experiment's machine (sim/comparison/compare.hpp).
#pragma once

#include "sim/comparison/compare.hpp"
#include "sim/engine/workbench.hpp"

namespace rayreplay::experiment {

/// `wanted` says which models, and what of them beside times (break-even, response, placement, observe); machine,
/// costs, hints, device and progress are the experiment's.
[[nodiscard]] CompareResult compare_models(Workbench& bench, const Experiment& experiment, CompareOptions wanted);

}  // namespace rayreplay::experiment
