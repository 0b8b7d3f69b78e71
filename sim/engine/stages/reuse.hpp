// Stage "reuse": a launch's stream through one hierarchy of caches in full detail, without recording it: reuse
// distances, time windows, sums by kind of data, SM, element and pixel (sim/caching/cache.hpp).
//
// Contract: `run_cache` on the parts of the launch's stream (stream.hpp). Errors: those of run_cache and of these
// parts.
#pragma once

#include "sim/caching/cache.hpp"
#include "sim/engine/workbench.hpp"

namespace rayreplay::experiment {

/// `wanted` gives the sums beside totals and the consumers of elements and instructions; the rest is the experiment's.
[[nodiscard]] CacheResult analyse_caches(Workbench& bench, const Experiment& experiment, CacheOptions wanted);

}  // namespace rayreplay::experiment
