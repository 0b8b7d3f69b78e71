// Stage "model": scheduler models compared on the experiment's machine (sim/comparison/compare.hpp).
//
// Contract: compares the wanted models on the experiment's launch, from the packing that the stage "assignment" gives.
// Errors: those of `compare`, of that stage and of the settings.
#pragma once

#include <span>
#include <string>

#include "sim/comparison/compare.hpp"
#include "sim/engine/workbench.hpp"

namespace rayreplay::experiment {

/// Machine, costs and hints of the experiment, with the rays' visits where they are counted.
[[nodiscard]] CompareOptions model_options(Workbench& bench, const Experiment& experiment);

/// Live state of the launch's shaders; assumed without an analysis if none of the models depends on it.
[[nodiscard]] machine::LiveState live_state_for(Workbench& bench, const Experiment& experiment,
                                                std::span<const std::string> models);
/// Live state and payload of the launch's shaders.
[[nodiscard]] machine::LiveState shaders_state(Workbench& bench, const Experiment& experiment);

/// `wanted` gives the models and the extra results (break-even, response, placement, observe); machine, costs, hints,
/// device and progress come from the experiment.
[[nodiscard]] CompareResult compare_models(Workbench& bench, const Experiment& experiment, CompareOptions wanted);

}  // namespace rayreplay::experiment
