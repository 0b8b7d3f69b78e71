// Caches whose hits depend on reuse distance only: one pass for all with equal line size.
//
// Contract: for each cache of the model `sdcm`, `run_distances` gives the integers that the model gives stream by
// stream (level_runs.hpp). Accesses are counted by distance, and each count is multiplied by the cache's hit
// probability. Memory: 16 bytes for each distance up to the largest, by stream.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/caching/grid/level_runs.hpp"

namespace rayreplay::experiment {

/// All `caches` have equal line and sector sizes; stream s is accesses [begins[s], begins[s + 1]).
[[nodiscard]] std::vector<LevelRun> run_distances(std::span<const memory::LineAccess> accesses,
                                                  std::span<const std::uint64_t> begins,
                                                  std::span<const LevelCache> caches);

}  // namespace rayreplay::experiment
