// Stage "assignment": which thread runs in which lane of which warp: launch order, then packing.
//
// Contract: `launch_order` is the assignment before packing, `assignment` the one after it; `bound` is the fewest warp
// events of any assignment of the launch's calls. `swizzle_of` is the packing as a permutation. Errors: those of orders
// and packings (sim/launch/warps.hpp) and of `resolve`.
#pragma once

#include <memory>

#include "scheduler-models/bound.hpp"
#include "scheduler-models/packing.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/engine/workbench.hpp"

namespace rayreplay::experiment {

[[nodiscard]] std::shared_ptr<const scheduler::WarpAssignment> launch_order(Workbench& bench,
                                                                            const Experiment& experiment);
[[nodiscard]] std::shared_ptr<const scheduler::WarpAssignment> assignment(Workbench& bench,
                                                                          const Experiment& experiment);
[[nodiscard]] std::shared_ptr<const scheduler::Bound> bound(Workbench& bench, const Experiment& experiment);
[[nodiscard]] scheduler::Swizzle swizzle_of(Workbench& bench, const Experiment& experiment);

}  // namespace rayreplay::experiment
