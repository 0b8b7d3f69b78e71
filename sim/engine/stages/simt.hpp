// Stage "simt": launches replayed: warp events and SIMT efficiency; packings compared.
//
// Contract: `replay` replays the launch with the experiment's assignment. `what_if` replays it once for each packing
// and each swizzle file; row 0 is identity, the baseline of `change`. Exact integers for any number of threads. Rows
// are computed one after another: memory beside the trace is a few arrays of one entry per thread for any number of
// rows and cores. Source: MODELS.md §3–§6. Errors: those of the settings, models, swizzle files and the replayer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/profile/path_efficiency.hpp"
#include "scheduler-models/bound.hpp"
#include "sim/engine/workbench.hpp"
#include "sim/launch/resolve.hpp"
#include "sim/simt/pixel_map.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::experiment {

/// `options` gives the sums beside totals; policy, costs and device come from the experiment.
[[nodiscard]] simt::ReplayResult replay(Workbench& bench, const Experiment& experiment, simt::ReplayOptions options);

/// The executions of the launch's events, from their paths; null where the trace has none of these.
[[nodiscard]] std::shared_ptr<const profile::EventPaths> event_paths(Workbench& bench, const Experiment& experiment);

/// Instructions of the warp events of `replay`. Empty without paths.
[[nodiscard]] profile::PathTallies tally_paths(Workbench& bench, const Experiment& experiment);

struct WhatIfWanted {
  std::vector<std::string> packings;  ///< specs; empty: every registered one
  std::vector<std::string> swizzles;  ///< files of permutations, beside the packings
  bool pixel_maps = false;            ///< also `maps` and every row's `efficiency_map`
};

struct WhatIfRow {
  std::string packing;        ///< resolved spec; "file:PATH" for a user's own swizzle
  simt::ReplayResult replay;  ///< without per-warp and per-thread sums
  double efficiency = 0;
  double change = 0;               ///< efficiency / identity's − 1; 0 when identity's is 0
  double weighted_efficiency = 0;  ///< equals efficiency when no costs are given
  double weighted_change = 0;
  profile::PathTallies paths;  ///< instructions of its warp events; empty without paths
  PixelMap efficiency_map;     ///< percent; empty unless asked for
};

/// Maps that no packing changes.
struct LaunchMaps {
  PixelCounts counts;
  PixelMap order;
};

struct WhatIfResult {
  Resolved configuration;
  std::string trace_hash;
  std::string tool_version;
  trace::LaunchSize size;
  std::uint64_t rays = 0;
  std::uint64_t events = 0;
  std::uint64_t warps = 0;
  std::vector<WhatIfRow> rows;
  scheduler::Bound bound;
  double weighted_bound = 0;  ///< weighted efficiency that no packing exceeds
  LaunchMaps maps;            ///< empty unless asked for
};

[[nodiscard]] WhatIfResult what_if(Workbench& bench, const Experiment& experiment, const WhatIfWanted& wanted);

}  // namespace rayreplay::experiment
