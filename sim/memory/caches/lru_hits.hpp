// Hits of many set-associative LRU caches over the same streams, for sweeps over sizes and associativities.
//
// Contract: stream s (an SM's, or all accesses to an L2) is lines [begins[s], begins[s + 1]). Every configuration has a
// separate cache for each stream. `hits[c][s]`: accesses of stream s whose line was in the cache of configuration c.
// The set of a line is line mod sets; the victim is the least-recently-used line of the set; every access uses its line
// and allocates it on a miss. That equals an exact cache of this folder with the model lru for
//
// - loads, and stores with allocate=true, for any `write`: hits of whole lines; for sectored caches hits + sector
//   misses.
//
// Stores with allocate=false are not covered: without allocation a larger cache does not include a smaller one, so each
// cache must run by itself (exact_counts.hpp). FIFO and random replacement are not covered for the same reason. One
// pass covers all configurations with equal numbers of sets (inclusion: Mattson et al., IBM Systems Journal 1970). A
// device pass (kernels/caches) costs the same for any sets and ways. On the processor, streams and numbers of sets run
// in parallel over all cores: up to 64 ways with lists of lines by last use, O(1) to O(ways) an access; above that one
// set uses the reuse engine `bitmap`, several sets an exact cache a configuration. All give the same numbers. A device
// gets as many whole streams at a time as fit; several devices share the numbers of sets. Processor memory: 8 bytes a
// line of the running caches. Errors: Usage for no sets or ways, or 2^31 and more; Internal for begins that do not
// partition the lines.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/memory/caches/cache_model.hpp"

namespace rayreplay::kernels {
class Accelerator;
}

namespace rayreplay::memory {

struct LruConfiguration {
  std::uint64_t sets = 1;
  std::uint64_t ways = 1;

  bool operator==(const LruConfiguration&) const = default;
};
/// Of a geometry with bytes > 0.
[[nodiscard]] inline LruConfiguration lru_configuration(const CacheGeometry& geometry) {
  return {geometry.sets(), geometry.associativity()};
}

using LruHits = std::vector<std::vector<std::uint64_t>>;

/// `accelerator` null: the processor.
[[nodiscard]] LruHits lru_hits(std::span<const std::uint64_t> lines, std::span<const std::uint64_t> begins,
                               std::span<const LruConfiguration> configurations, kernels::Accelerator* accelerator);

}  // namespace rayreplay::memory
