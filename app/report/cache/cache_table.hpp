// The tables of `rayreplay cache`: accesses by cache level and kind of data, by SM, by time window.
//
// Contract: rows of `cache_rows` are a level's kinds of data, then the level's sum ("all"). Misses are split if there
// are reuse distances, else these cells are empty; with a sampling engine the split is an estimate. Delivered bytes are
// touched sectors times the sector size. Bytes from below and to below are what the level's model fetches and writes
// for accesses of the kind; models with probabilities give expected values. Keys: docs/surfaces.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "app/report/export/table.hpp"
#include "sim/caching/cache.hpp"

namespace rayreplay::report {

inline constexpr std::array<const char*, memory::kLevels> kLevelNames = {"L1", "L2"};

/// Hits, cold, … as counts.
[[nodiscard]] double from_fixed(std::uint64_t sum);
/// Sectors fetched from below; the hit rate by sector of loads: 1 − fetched / touched sectors, NaN without loads.
[[nodiscard]] double sectors_filled(const memory::LevelSums& sums);
[[nodiscard]] double sector_hit_rate(const memory::LevelSums& sums);
/// Misses by class, as counts. For a sampling engine: the sampled shares, applied to all misses.
struct MissSplit {
  double cold = 0, stored_only = 0, new_sectors = 0, capacity = 0, conflict = 0;
};
/// Empty without reuse distances, or without a sampled miss.
[[nodiscard]] std::optional<MissSplit> split_of(const experiment::CacheResult& result, std::size_t level,
                                                const memory::LevelSums& sums);
/// Sum over the kinds of data.
[[nodiscard]] memory::LevelSums all_kinds(const memory::KindSums& kinds);
[[nodiscard]] bool has_level(const experiment::CacheResult& result, std::size_t level);

[[nodiscard]] output::Table cache_rows(const experiment::CacheResult& result);
/// Expected values rounded to whole numbers for columns without decimals: "1,370,721".
[[nodiscard]] output::Table for_people(output::Table table);
[[nodiscard]] output::Table cache_sms(const experiment::CacheResult& result);
[[nodiscard]] output::Table cache_windows(const experiment::CacheResult& result);
/// Guessed labels: allocation, kind, element size, confidence and reason. Empty unless wanted.
[[nodiscard]] output::Table cache_guesses(const experiment::CacheResult& result);

/// Results that belong to no level, with units in their names.
struct CacheSummary {
  std::uint64_t instructions = 0, transactions = 0, requests = 0, loads = 0;
  double milliseconds = 0;  ///< of the interleaved cycles at the machine's clock; 0: not interleaved
  std::array<std::uint64_t, memory::kLevels> filled_bytes{}, written_bytes{};  ///< traffic of a level with the next one
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0;
  double dram_bytes_per_second = 0;  ///< over those cycles; 0: not interleaved
  /// Hit rates over requests (lanes); negative: not computed.
  double l1_request_rate = -1, l2_request_rate = -1;
};
[[nodiscard]] CacheSummary summarise(const experiment::CacheResult& result);

}  // namespace rayreplay::report
