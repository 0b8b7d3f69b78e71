// Exact counts of many cache configurations, with sectors and stores, over the same streams.
//
// Contract: stream s is accesses [begins[s], begins[s + 1]). Every configuration has a separate cache for each stream.
// All configurations have the same line and sector size, in which accesses are given. `counts[c][s]` is the result of
// make_set_associative(geometry, policy) over stream s. The device (kernels/caches/exact.hpp) handles LRU, loads and
// stores, write-through and write-back, with and without allocation, up to 8 ways for each lane of a subgroup (256 on
// subgroups of 32), and below 2^28 ways in all caches together. FIFO, random replacement and more ways run on the
// processor; the stage's record says so. There, caches and streams run in parallel over all cores. Device and processor
// give the same numbers. For hits of whole lines with allocation alone, lru_hits.hpp handles all ways in one pass.
// Several devices share the caches. Errors: Usage as in set_associative.hpp, or for different lines or sectors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/memory/caches/set_associative.hpp"

namespace rayreplay::kernels {
class Accelerator;
}

namespace rayreplay::memory {

struct ExactCache {
  CacheGeometry geometry;
  CachePolicy policy;
};

using ExactCounts = std::vector<std::vector<CacheCounts>>;

/// `accelerator` null: the processor.
[[nodiscard]] ExactCounts exact_counts(std::span<const LineAccess> accesses, std::span<const std::uint64_t> begins,
                                       std::span<const ExactCache> caches, kernels::Accelerator* accelerator);

}  // namespace rayreplay::memory
