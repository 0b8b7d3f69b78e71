// What would other packings do to this launch? A trace and a configuration to a table, one row per packing.
//
// Contract: a pure function. Every row replays the launch with the threads packed anew; row 0 is identity, the baseline
// of `change`. Exact integers, the same whatever the number of threads. Parallel inside a row, over threads and warps;
// rows come one after another, so that memory beside the trace is a few arrays of one entry per thread, however many
// rows or cores there are; the trace's columns are never copied. Source: MODELS.md §3–§6. Errors: those of the
// configuration, the models, the swizzle files and the replayer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "capture/trace/accelerated_launch.hpp"
#include "scheduler-models/bound.hpp"
#include "sim/experiment/pixel_map.hpp"
#include "sim/experiment/resolve.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::experiment {

struct WhatIfOptions {
  bool pixel_maps = false;             ///< also compute `maps` and every row's `efficiency_map`
  Accelerator* accelerator = nullptr;  ///< where packings and replays run; null: on the processor
  Progress* progress = nullptr;
};

struct WhatIfRow {
  std::string packing;        ///< resolved spec; "file:PATH" for a user's own swizzle
  simt::ReplayResult replay;  ///< without per-warp and per-thread sums
  double efficiency = 0;
  double change = 0;               ///< efficiency / identity's − 1; 0 when identity's is 0
  double weighted_efficiency = 0;  ///< equals efficiency when no costs are given
  double weighted_change = 0;
  PixelMap efficiency_map;  ///< percent; empty unless asked for
};

/// What no packing changes.
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

[[nodiscard]] WhatIfResult what_if(const trace::Trace& trace, const Resolved& configuration,
                                   const WhatIfOptions& options = {});

/// The assignment of one packing spec, as `what_if` replays it.
/// `on_device`: of that launch; null: the processor.
[[nodiscard]] scheduler::WarpAssignment pack(const trace::Launch& launch, const scheduler::WarpAssignment& order,
                                             const std::string& packing, trace::AcceleratedLaunch* on_device = nullptr);

}  // namespace rayreplay::experiment
