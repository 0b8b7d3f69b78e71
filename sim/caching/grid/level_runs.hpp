// Caches of one level over the level's streams.
//
// Contract: for each cache, `run_level` gives the model's result over all streams (one cache instance for each). LRU
// caches with equal line, sector and policy share passes (sim/memory/caches/lru_grid.hpp); others run separately, in
// parallel over all cores. An invalid cache gets a failure. Traffic: the level's requests to memory if there is no
// lower level, as defined in sums.hpp and analysis.hpp of sim/memory/results. Deterministic.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "base/error.hpp"
#include "sim/memory/caches/cache_model.hpp"

namespace rayreplay::experiment {

/// A cache in canonical form: equal caches compare equal.
struct LevelCache {
  std::uint64_t bytes = 0;
  std::uint32_t line_bytes = 0, sector_bytes = 0, ways = 0;
  std::string model;  ///< resolved spec
  bool exact = true;  ///< false: the model gives probabilities of hits

  [[nodiscard]] memory::CacheGeometry geometry() const {
    return {.bytes = bytes, .line_bytes = line_bytes, .ways = ways, .sector_bytes = sector_bytes};
  }
  auto operator<=>(const LevelCache&) const = default;
};

/// Usage for an invalid geometry or model. `where`: "L1".
[[nodiscard]] LevelCache level_cache(const memory::CacheGeometry& geometry, const std::string& model,
                                     const std::string& where);

struct LevelRun {
  memory::CacheCounts counts;
  std::uint64_t read_bytes = 0;
  std::uint64_t read_part = 0;  ///< of models with probabilities: remainder, in units of 1 / memory::kOne
  std::uint64_t written_bytes = 0;
  std::optional<ErrorInfo> failure;

  [[nodiscard]] std::uint64_t all_read_bytes() const {
    return read_bytes + (read_part + memory::kOne / 2) / memory::kOne;
  }
  /// The same cache over further streams.
  void add(const LevelRun& other);
};

/// Stream s is accesses [begins[s], begins[s + 1]), in lines and sectors of all `caches`. Adds to `passes`.
[[nodiscard]] std::vector<LevelRun> run_level(std::span<const memory::LineAccess> accesses,
                                              std::span<const std::uint64_t> begins, std::span<const LevelCache> caches,
                                              Accelerator* accelerator, std::uint64_t& passes);

}  // namespace rayreplay::experiment
