// Hits of many set-associative LRU caches over the same streams, for sweeps over sizes and associativities.
//
// Contract: stream s (the accesses of one SM's L1, or of an L2) is lines [begins[s], begins[s + 1]). Every
// configuration has a separate cache for each stream; `hits[c][s]` counts the accesses of stream s whose line is in the
// cache of configuration c. The set of a line is line mod sets. Every access makes its line the most recently used; a
// missing line replaces the least recently used line of its set. Errors: Usage for 0 sets or ways, or 2^31 and more;
// Internal for `begins` that do not partition `lines`.
//
// Hits equal those of an exact cache with the model lru for loads, and for stores with allocate=true under any `write`:
// hits of whole lines, or of sectored caches hits + sector misses. Not covered are stores with allocate=false, FIFO and
// random replacement: a larger cache then need not include a smaller one's lines, so each cache is simulated separately
// (exact_counts.hpp).
//
// Configurations with the same number of sets share one pass over the accesses (inclusion: Mattson et al., IBM Systems
// Journal 1970). On a device the cost of a pass does not depend on sets and ways; as many whole streams as fit are
// processed together, and several devices share the numbers of sets. On the processor streams and numbers of sets run
// in parallel on all cores: up to 64 ways with lists of lines by last use, O(1) to O(ways) an access; above that one
// set with the reuse engine `bitmap`, several sets with an exact cache for each configuration. The hits are the same.
// Memory on the processor: 8 bytes a line of the caches that run.
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

/// Configurations with the same number of sets.
struct LruGroup {
  std::uint64_t sets = 1;
  std::vector<std::uint64_t> ways;  ///< ascending, different
};

/// Indices: group, position in LruGroup::ways, stream.
using LruGroupHits = std::vector<std::vector<std::vector<std::uint64_t>>>;

[[nodiscard]] LruGroupHits no_hits(const LruStreams& streams, const std::vector<LruGroup>& groups);

inline constinit Twin<LruGroupHits(const LruStreams&, const std::vector<LruGroup>&)> lru_hits_twin{
    "set-associative LRU"};

}  // namespace rayreplay::memory
