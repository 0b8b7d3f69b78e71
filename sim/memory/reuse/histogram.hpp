// Histograms of reuse distances, and the miss-ratio curves of all cache sizes that come out of them in one pass.
//
// Contract: counts by distance: exactly up to kExact, then in bins whose width is 1/kPerOctave of their octave; cold
// (infinite) accesses apart. Histograms merge by addition, so that the sum over any partition is exact. A fully
// associative LRU cache of B lines misses accesses with D ≥ B (Mattson et al., IBM Systems Journal 1970), so that the
// curve is exact at sizes up to kExact + 1 and at the limits of bins. Memory: O(octaves · kPerOctave).
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

  void add(std::span<const std::uint32_t> distances);  ///< kNotSampled: counted in not_sampled alone
  void add(std::uint32_t distance, std::uint64_t count);
  /// Counts of bins 0 … kBins − 1, as a device counts them (kernels/reuse).
  void add_bins(std::span<const std::uint32_t> counts, std::uint64_t cold);
  void merge(const ReuseHistogram& other);

  [[nodiscard]] std::uint64_t accesses() const;  ///< cold ones included, not sampled ones not
  [[nodiscard]] std::uint64_t cold() const {
    return cold_;
  }
  [[nodiscard]] std::uint64_t not_sampled() const {
    return not_sampled_;
  }
  [[nodiscard]] std::vector<Bin> bins() const;  ///< with a count, ascending
  /// Accesses that a fully associative LRU cache of so many lines misses, cold ones included. Sizes within a bin count
  /// the whole bin as misses.
  [[nodiscard]] std::uint64_t misses(std::uint64_t lines) const;

  /// The shortest distances first; no more than there are, and no cold ones.
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

/// Of a sampled stream (`weight`: what one sampled access stands for): the sample has accesses / weight members only on
/// average, as lines that are touched often are sampled or not. The difference is put right in the first bin, that of
/// distance 0, so that ratios refer to the size the sample should have (SHARDS-adj of Waldspurger et al., FAST 2015).
/// Where more is to be taken from that bin than it has, the next ones give the rest: the curve is the one that a
/// negative first bin makes, cut off at 1.
[[nodiscard]] ReuseHistogram adjusted(const ReuseHistogram& sampled, double weight);

struct CurvePoint {
  std::uint64_t lines = 0;
  double miss_ratio = 0;
};
/// At every size where the histogram knows it exactly and it changes, `points` at most (evenly by log of size).
[[nodiscard]] std::vector<CurvePoint> miss_ratio_curve(const ReuseHistogram& histogram, std::size_t points);

}  // namespace rayreplay::memory
