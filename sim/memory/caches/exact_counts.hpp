// Exact counts of many cache configurations, with sectors and stores, over the same streams.
//
// Contract: stream s is accesses [begins[s], begins[s + 1]). `counts[c][s]` equals the counts of
// make_set_associative(geometry, policy) of cache c over stream s, starting empty. All caches have the same line and
// sector size; accesses hold line numbers and sector masks of that size. For hits of whole lines with allocation alone,
// lru_hits.hpp computes all ways in one pass. Errors: Usage as in set_associative.hpp, or for different line or sector
// sizes.
//
// Devices run LRU caches: loads and stores, write-through and write-back, with and without allocation, up to 8 ways for
// each lane of a subgroup (256 on subgroups of 32), below 2^28 ways over all streams. The processor runs FIFO, random
// replacement and more ways; the record of the stage says so. The counts are the same. Several devices share the
// caches; on the processor caches and streams run in parallel on all cores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/twin.hpp"
#include "sim/memory/caches/set_associative.hpp"

namespace rayreplay::memory {

struct ExactCache {
  CacheGeometry geometry;
  CachePolicy policy;
};

using ExactCounts = std::vector<std::vector<CacheCounts>>;

/// `accelerator` null: the processor.
[[nodiscard]] ExactCounts exact_counts(std::span<const LineAccess> accesses, std::span<const std::uint64_t> begins,
                                       std::span<const ExactCache> caches, Accelerator* accelerator);

struct ExactStreams {
  std::span<const LineAccess> accesses;
  std::span<const std::uint64_t> begins;

  [[nodiscard]] std::size_t count() const {
    return begins.size() - 1;
  }
};

inline constexpr const char* kNoExactKernel = "replacement other than LRU, or too many ways, have no kernel";
/// Writes the counts of the caches that have a kernel; returns for each cache whether it was written.
inline constinit Twin<std::vector<bool>(const ExactStreams&, std::span<const ExactCache>, ExactCounts&)>
    exact_counts_twin{"exact caches"};

}  // namespace rayreplay::memory
