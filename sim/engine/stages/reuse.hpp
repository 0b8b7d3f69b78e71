// Stage "reuse": a launch's stream, as it is made, through one hierarchy of caches in full detail: reuse distances,
// windows of time, sums by kind of data, SM, element and pixel (sim/caching/cache.hpp).
#pragma once

#include "sim/caching/cache.hpp"
#include "sim/engine/workbench.hpp"

namespace rayreplay::experiment {

/// `wanted` says what is summed beside totals, and who takes elements and instructions; all else is the experiment's.
[[nodiscard]] CacheResult analyse_caches(Workbench& bench, const Experiment& experiment, CacheOptions wanted);

}  // namespace rayreplay::experiment
