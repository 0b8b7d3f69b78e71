// Caches that know no more of an access than its reuse distance: one pass for all of one line size.
//
// Contract: `run_distances` gives for each cache of the model `sdcm` what the model makes of the streams one by one
// (level_runs.hpp), the same integers: accesses are counted by distance, and each count is multiplied with the
// probability of a hit that a cache gives to it. Memory: 16 bytes for each distance up to the greatest, by stream.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/caching/grid/level_runs.hpp"

namespace rayreplay::experiment {

/// All `caches` have one line and sector; stream s is accesses [begins[s], begins[s + 1]).
[[nodiscard]] std::vector<LevelRun> run_distances(std::span<const memory::LineAccess> accesses,
                                                  std::span<const std::uint64_t> begins,
                                                  std::span<const LevelCache> caches);

}  // namespace rayreplay::experiment
