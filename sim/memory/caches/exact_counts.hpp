// Exact counts of many cache configurations, with sectors and stores, over the same streams.
//
// Contract: stream s is accesses [begins[s], begins[s + 1]); every cache of the list has one of its own for each
// stream. Accesses are in lines of the caches, with sectors of theirs: all have the same line and sector.
// `counts[c][s]` is what make_set_associative(geometry, policy) counts of stream s. On a device:
// Lru, loads and stores, write-through and write-back, with and without allocation, of up
// to 8 ways for each lane of a subgroup (256 on subgroups of 32), below 2^28 ways of all streams' caches. FIFO, random
// replacement and more ways: the processor, and the record of the stage says so. On the processor caches and streams go
// side by side over all cores. The numbers are the same. Where hits of whole lines with allocation are all that is
// asked for, lru_hits.hpp has all ways at once. Several devices share the caches. Errors: Usage as in
// set_associative.hpp, or for different lines or sectors.
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
/// Writes the counts of the caches that it has a kernel for, and returns which these are.
inline constinit Twin<std::vector<bool>(const ExactStreams&, std::span<const ExactCache>, ExactCounts&)>
    exact_counts_twin{"exact caches"};

}  // namespace rayreplay::memory
