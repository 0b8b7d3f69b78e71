// Stage "regrouping": the launch's warps of segments under the scheduler model, for the access stream.
//
// Contract: the warps come from `scheduler.model`, or from the file `scheduler.file`. `regrouping` is null under the
// model plain without a file: then the work distribution places the warps. `require_regrouping` rejects settings of
// which no stream can be made: a bound; a model beside a file; a work distribution beside a model or file, which place
// warps themselves; a model or file for a memory trace (`memory`), which has no threads. Errors: those of
// regroup_launch and read_schedule (sim/launch/), Usage for rejected settings.
#pragma once

#include <memory>

#include "sim/engine/workbench.hpp"
#include "sim/launch/regrouped_launch.hpp"

namespace rayreplay::experiment {

[[nodiscard]] std::shared_ptr<const RegroupedLaunch> regrouping(Workbench& bench, const Experiment& experiment);

void require_regrouping(const Settings& complete, bool memory);

/// True if a scheduler model or a schedule places the launch's warps.
[[nodiscard]] bool regroups(const Settings& complete);

}  // namespace rayreplay::experiment
