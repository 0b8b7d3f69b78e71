// Stage "regrouping": the launch's warps of segments under the scheduler model, for the access stream.
//
// Contract: `regrouping` is null under the model plain, whose warps the work distribution places. `require_regrouping`
// rejects settings of which no stream can be made: a bound; a work distribution beside a model that places warps
// itself; a model for a memory trace (`memory`), which has no threads. Errors: those of regroup_launch (sim/launch/),
// Usage for rejected settings.
#pragma once

#include <memory>

#include "sim/engine/workbench.hpp"
#include "sim/launch/regrouped_launch.hpp"

namespace rayreplay::experiment {

[[nodiscard]] std::shared_ptr<const RegroupedLaunch> regrouping(Workbench& bench, const Experiment& experiment);

void require_regrouping(const Settings& complete, bool memory);

/// True if a scheduler model places the launch's warps.
[[nodiscard]] bool regroups(const Settings& complete);

}  // namespace rayreplay::experiment
