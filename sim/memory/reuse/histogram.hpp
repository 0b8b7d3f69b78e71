// Histograms of reuse distances, and miss-ratio curves of all cache sizes in one pass.
//
// Contract: counts by distance, exact up to kExact, then in bins of 1/kPerOctave of an octave; cold (infinite) accesses
// are separate. Histograms merge by addition, so the sum over any partition is exact. A fully associative LRU cache of
// B lines misses accesses with D ≥ B (Mattson et al., IBM Systems Journal 1970), so the curve is exact at sizes up to
// kExact + 1 and at the limits of bins. Memory: O(octaves · kPerOctave).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/memory/reuse/reuse_engine.hpp"

namespace rayreplay::memory {

class ReuseHistogram {
 public:
  static constexpr std::uint32_t kExact = 4096;
  static constexpr std::uint32_t kPerOctave = 64;
  static constexpr std::size_t kBins = kExact + (32 - 12) * kPerOctave;  ///< 2^12 is kExact

  struct Bin {
    std::uint32_t first = 0;  ///< lowest distance
    std::uint32_t last = 0;   ///< highest
    std::uint64_t count = 0;
  };

  void add(std::span<const std::uint32_t> distances);  ///< kNotSampled adds to not_sampled only
  void add(std::uint32_t distance, std::uint64_t count);
  /// Counts of bins 0 … kBins − 1, from a device (kernels/reuse).
  void add_bins(std::span<const std::uint32_t> counts, std::uint64_t cold);
  void merge(const ReuseHistogram& other);

  [[nodiscard]] std::uint64_t accesses() const;  ///< with cold ones, without unsampled ones
  [[nodiscard]] std::uint64_t cold() const {
    return cold_;
  }
  [[nodiscard]] std::uint64_t not_sampled() const {
    return not_sampled_;
  }
  [[nodiscard]] std::vector<Bin> bins() const;  ///< non-empty, ascending
  /// Misses of a fully associative LRU cache of that many lines, cold ones included. For a size within a bin the whole
  /// bin counts as misses.
  [[nodiscard]] std::uint64_t misses(std::uint64_t lines) const;

  /// Removes `count` accesses, the shortest distances first; all if there are fewer. Cold accesses stay.
  void take_back_shortest(std::uint64_t count);

  [[nodiscard]] std::uint64_t memory_bytes() const {
    return counts_.capacity() * sizeof(std::uint64_t);
  }

  bool operator==(const ReuseHistogram&) const = default;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t cold_ = 0;
  std::uint64_t not_sampled_ = 0;
};

/// For a sampled stream (`weight`: accesses that one sampled access represents). The sample has accesses / weight
/// members only on average, because frequently used lines are in it or not. The first bin, distance 0, absorbs the
/// difference, so that ratios refer to the expected sample size (SHARDS-adj of Waldspurger et al., FAST 2015). A
/// negative first bin is cut to 0 and the remainder taken from the next bins, which limits the curve to 1.
[[nodiscard]] ReuseHistogram adjusted(const ReuseHistogram& sampled, double weight);

struct CurvePoint {
  std::uint64_t lines = 0;
  double miss_ratio = 0;
};
/// At sizes where the curve changes and is exact, at most `points` (evenly spaced in the log of size).
[[nodiscard]] std::vector<CurvePoint> miss_ratio_curve(const ReuseHistogram& histogram, std::size_t points);

}  // namespace rayreplay::memory
