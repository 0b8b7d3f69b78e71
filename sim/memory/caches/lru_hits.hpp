// Hits of many set-associative LRU caches over the same streams, for sweeps over sizes and associativities.
//
// Contract: stream s (an SM's, or all that comes to an L2) is lines [begins[s], begins[s + 1]); every configuration has
// a cache of its own for each stream. `hits[c][s]`: accesses of stream s whose line was in the cache of configuration
// c. The set of a line is line mod sets, the victim the line of the set whose last use is longest ago; every access
// uses its line, and takes it in if it is not there. That is an exact cache of this folder with the model lru:
//   loads, and stores with allocate=true, whatever `write`: hits of whole lines; of sectored caches hits + sector
//   misses stores with allocate=false: not covered, as a store that misses would leave no line; such a cache has no
//   stack (what a larger one keeps is not what a smaller one keeps and more), so that each has to be run by itself:
//   exact_counts.hpp
// FIFO and random replacement are not covered for the same reason. Configurations of one number of sets come from one
// pass over the accesses (inclusion: Mattson et al., IBM Systems Journal 1970). On a device a pass
// costs the same for any sets and ways. On the processor streams and numbers of sets go side by side over all cores: up
// to 64 ways lists of lines by last use, O(1) to O(ways) an access; more ways: one set by the reuse engine `bitmap`,
// several by an exact cache a configuration. The numbers are the same. Whole streams at a time: as many as fit go to
// the device together; several devices share the numbers of sets. Memory on the processor: 8 bytes a line of the caches
// that run. Errors: Usage for no sets or ways, or 2^31 and more; Internal for streams that are not cut as they should
// be.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/twin.hpp"
#include "sim/memory/caches/cache_model.hpp"

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
                               std::span<const LruConfiguration> configurations, Accelerator* accelerator);

struct LruStreams {
  std::span<const std::uint64_t> lines;
  std::span<const std::uint64_t> begins;

  [[nodiscard]] std::size_t count() const {
    return begins.size() - 1;
  }
  [[nodiscard]] std::span<const std::uint64_t> of(std::size_t stream) const {
    return lines.subspan(begins[stream], begins[stream + 1] - begins[stream]);
  }
};

/// Configurations of one number of sets.
struct LruGroup {
  std::uint64_t sets = 1;
  std::vector<std::uint64_t> ways;  ///< ascending, different
};

/// By group, number of ways, stream.
using LruGroupHits = std::vector<std::vector<std::vector<std::uint64_t>>>;

[[nodiscard]] LruGroupHits no_hits(const LruStreams& streams, const std::vector<LruGroup>& groups);

inline constinit Twin<LruGroupHits(const LruStreams&, const std::vector<LruGroup>&)> lru_hits_twin{
    "set-associative LRU"};

}  // namespace rayreplay::memory
