// Caches of one level over the streams that come to it.
//
// Contract: `run_level` gives for each cache what its model makes of all streams together (each has a cache of its
// own). LRU caches with one line, sector and policy share passes (memory/caches/lru_grid.hpp), others run by
// themselves, over all cores. A cache that cannot be has a failure. Traffic: what the level asks of memory, if there
// is no other below: sums.hpp and analysis.hpp of sim/memory/results say what that is. Deterministic.
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

/// A cache, such that equal ones are written the same way.
struct LevelCache {
  std::uint64_t bytes = 0;
  std::uint32_t line_bytes = 0, sector_bytes = 0, ways = 0;
  std::string model;  ///< resolved spec
  bool exact = true;

  [[nodiscard]] memory::CacheGeometry geometry() const {
    return {.bytes = bytes, .line_bytes = line_bytes, .ways = ways, .sector_bytes = sector_bytes};
  }
  auto operator<=>(const LevelCache&) const = default;
};

/// Usage where the geometry or the model cannot be. `where`: "L1".
[[nodiscard]] LevelCache level_cache(const memory::CacheGeometry& geometry, const std::string& model,
                                     const std::string& where);

struct LevelRun {
  memory::CacheCounts counts;
  std::uint64_t read_bytes = 0;
  std::uint64_t read_part = 0;  ///< of models that know probabilities: goes on top, in parts of memory::kOne
  std::uint64_t written_bytes = 0;
  std::optional<ErrorInfo> failure;

  [[nodiscard]] std::uint64_t all_read_bytes() const {
    return read_bytes + (read_part + memory::kOne / 2) / memory::kOne;
  }
  /// The same cache, over other streams.
  void add(const LevelRun& other);
};

/// Stream s is accesses [begins[s], begins[s + 1]), in lines and sectors of all `caches`. `passes` is added to.
[[nodiscard]] std::vector<LevelRun> run_level(std::span<const memory::LineAccess> accesses,
                                              std::span<const std::uint64_t> begins, std::span<const LevelCache> caches,
                                              Accelerator* accelerator, std::uint64_t& passes);

}  // namespace rayreplay::experiment
