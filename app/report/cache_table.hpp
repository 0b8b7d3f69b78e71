// The tables of `rayreplay cache`: accesses by cache level and kind of data, by SM, by time window.
//
// Contract: rows of `cache_rows` are kinds of data that a level saw, the level's sum ("all") last. Misses are split
// where reuse distances were taken, else their cells are empty; with an engine that samples, the split is an estimate.
// Delivered bytes are sectors touched times the sector's size; bytes from below and to below are what the level's model
// fetches and writes for accesses of the kind, expected values of models that give probabilities. Keys:
// docs/surfaces.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "app/output/table.hpp"
#include "sim/caching/cache.hpp"

namespace rayreplay::report {

inline constexpr std::array<const char*, memory::kLevels> kLevelNames = {"L1", "L2"};

/// Hits, cold, … as counts.
[[nodiscard]] double from_fixed(std::uint64_t sum);
/// Sectors that were fetched from below, and by how many of the sectors that loads touched they were not needed: NaN
/// without loads.
[[nodiscard]] double sectors_filled(const memory::LevelSums& sums);
[[nodiscard]] double sector_hit_rate(const memory::LevelSums& sums);
/// Misses by what they are, as counts. Of an engine that samples: the shares of the sampled ones, of all misses.
struct MissSplit {
  double cold = 0, capacity = 0, conflict = 0;
};
/// None without reuse distances, or where no miss was sampled.
[[nodiscard]] std::optional<MissSplit> split_of(const experiment::CacheResult& result, std::size_t level,
                                                const memory::LevelSums& sums);
/// Sum over the kinds of data.
[[nodiscard]] memory::LevelSums all_kinds(const memory::KindSums& kinds);
[[nodiscard]] bool has_level(const experiment::CacheResult& result, std::size_t level);

[[nodiscard]] output::Table cache_rows(const experiment::CacheResult& result);
/// Expected numbers rounded to whole ones where the column shows no decimals: "1,370,721".
[[nodiscard]] output::Table for_people(output::Table table);
[[nodiscard]] output::Table cache_sms(const experiment::CacheResult& result);
[[nodiscard]] output::Table cache_windows(const experiment::CacheResult& result);

/// What does not depend on a level, with units in its names.
struct CacheSummary {
  std::uint64_t instructions = 0, transactions = 0, requests = 0, loads = 0;
  double milliseconds = 0;  ///< of the interleaved cycles at the machine's clock; 0: not interleaved
  std::array<std::uint64_t, memory::kLevels> filled_bytes{},
      written_bytes{};  ///< traffic of a level with what is below
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0;
  double dram_bytes_per_second = 0;  ///< over those cycles; 0: not interleaved
  /// Hit rates over requests (lanes); negative: not asked for.
  double l1_request_rate = -1, l2_request_rate = -1;
};
[[nodiscard]] CacheSummary summarise(const experiment::CacheResult& result);

}  // namespace rayreplay::report
