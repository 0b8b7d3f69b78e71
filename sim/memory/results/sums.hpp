// Sums over accesses that merge exactly.
//
// Contract: averages are kept as (sum, count) (von Buelow et al. 2023, eq. 3). Sums of hit probabilities are fixed
// point (caches/cache_model.hpp), so every sum is an integer, and merging by addition gives the same bits for any
// partition of the accesses. Orders merge by minimum and maximum. 64 bits do not overflow below 2^34 accesses (of a
// level, over all its caches). `filled` may grow by 8 sectors an access, so its unit is 2^-27 of a sector instead of
// kOne.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/data_kind.hpp"
#include "sim/memory/reuse/histogram.hpp"

namespace rayreplay::memory {

inline constexpr std::uint64_t kNever = ~std::uint64_t{0};
inline constexpr std::size_t kL1 = 0;
inline constexpr std::size_t kL2 = 1;
inline constexpr std::size_t kLevels = 2;
/// One sector in `LevelSums::filled`.
inline constexpr std::uint64_t kOneSector = kOne / 8;
/// One byte while PixelSums::bytes is summed: room for 2^34 requests of 64 KiB each.
inline constexpr std::uint64_t kOneByte = std::uint64_t{1} << 14U;
/// Limit up to which all sums are exact; longer streams are an error (analysis.hpp).
inline constexpr std::uint64_t kMaxAccesses = (std::uint64_t{1} << 34U) - 1;

/// Accesses of one kind of data to one cache level.
struct LevelSums {
  std::uint64_t accesses = 0;  ///< cache lookups
  std::uint64_t hits = 0;      ///< fixed point
  std::uint64_t stores = 0;    ///< of accesses
  std::uint64_t sectors = 0;   ///< touched; bytes delivered are sectors · sector size
  /// Misses = cold + stored_only + new_sectors + capacity + conflict, over accesses with a known distance (exact
  /// engine: all; sampling engine: the sampled ones; without distances: none), by class (miss_classes.hpp). `beyond`:
  /// hits that a fully associative LRU cache of the same size would have missed. Each access adds 1 − p (to beyond: p);
  /// for exact models 0 or 1.
  std::uint64_t cold = 0, stored_only = 0, new_sectors = 0, capacity = 0, conflict = 0;  ///< fixed point
  std::uint64_t beyond = 0;                                                              ///< fixed point
  std::uint64_t sector_misses = 0;  ///< misses that found the line; exact models only
  /// Traffic with the next level, in sectors of this level, by the access that caused it: a writeback counts for the
  /// access that causes the eviction. 1 − filled / (kOneSector · load_sectors) is the hit rate of loads by sector.
  /// Exact models: their requests. Others: a load fetches its sectors with probability 1 − p (rounded to the unit for
  /// each access), and all stored sectors are written. Both describe the level's own model, even if an exact cache
  /// makes the requests to the next level (analysis.hpp).
  std::uint64_t load_sectors = 0;  ///< the part of `sectors` that loads touched
  std::uint64_t filled = 0;        ///< fetched from below, in units of 1 / kOneSector
  std::uint64_t written = 0;       ///< written to the next level: through, around, or back

  void merge(const LevelSums& other);
  [[nodiscard]] double hit_rate() const {
    return accesses == 0 ? 0 : static_cast<double>(hits) / kOne / static_cast<double>(accesses);
  }
  bool operator==(const LevelSums&) const = default;
};
using KindSums = std::array<LevelSums, kDataKinds>;

/// Sums over the requests (one lane's use of one transaction) of one element or pixel: the tuple (i, o, s_L1, s_L2, N)
/// of von Buelow et al. 2023, §4.2.
struct RequestSums {
  std::uint64_t requests = 0;
  std::uint64_t l1_hits = 0;  ///< fixed point, over requests
  std::uint64_t l2_hits = 0;  ///< fixed point, over l2_requests
  std::uint64_t l2_requests = 0;
  std::uint64_t first = kNever;  ///< order (number of the request in the whole stream) of the first and
  std::uint64_t last = 0;        ///< last request; kNever, 0: none

  void merge(const RequestSums& other) {
    requests += other.requests;
    l1_hits += other.l1_hits;
    l2_hits += other.l2_hits;
    l2_requests += other.l2_requests;
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  bool operator==(const RequestSums&) const = default;
};

struct PixelSums {
  RequestSums requests;  ///< of all kinds
  /// Bytes read from DRAM: a transaction's fetched bytes are shared equally by its requests, in units of 1 / kOneByte
  /// bytes, rounded down; the final sum is rounded down to bytes.
  std::uint64_t bytes = 0;
  std::uint64_t written = kNever;  ///< order of its first frame-buffer store
  bool operator==(const PixelSums&) const = default;
};

/// Sums of one time window. Merging takes the smallest first request and cycle, and the largest last cycle, of windows
/// with requests.
struct WindowSums {
  std::uint64_t first_request = 0, requests = 0;  ///< orders [first_request, first_request + requests)
  std::uint64_t first_cycle = 0, last_cycle = 0;  ///< of issue; 0 if cycles are unknown
  std::array<KindSums, kLevels> levels{};
  std::vector<std::array<LevelSums, kLevels>> sms;  ///< by SM, all kinds; L2: accesses caused by this SM
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0;

  void merge(const WindowSums& other);
};

/// An element's sums in a window. Rows are ordered by window, then by element.
struct ElementRow {
  std::uint32_t window = 0;
  std::uint32_t element = 0;
  RequestSums sums;
};

}  // namespace rayreplay::memory
