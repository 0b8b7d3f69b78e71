// Stage "advice": coherence hints, ranked by their score (sim/comparison/advise.hpp).
//
// Contract: runs the search on the experiment's launch, its threads in warps by the launch order alone. Recorded
// accesses of shaders count where stream.shader_accesses takes them (shader_accesses.hpp), at the machine's issue rate,
// lines and sectors. Errors: those of `advise`, of stream.shader_accesses, and of the settings.
#pragma once

#include <optional>

#include "sim/comparison/advise.hpp"
#include "sim/engine/workbench.hpp"

namespace rayreplay::experiment {

/// Cycles of a transaction unless they are given: a load unit serves one line a cycle (docs/assumptions.md).
inline constexpr double kTransactionCycles = 1;

/// `wanted` gives the limits, model and machine; hints, addresses, device and progress come from the experiment.
[[nodiscard]] AdviseResult advise_hints(Workbench& bench, const Experiment& experiment, AdviseOptions wanted,
                                        std::optional<double> transaction_cycles = std::nullopt);

}  // namespace rayreplay::experiment
