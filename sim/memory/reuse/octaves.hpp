// Reuse distances by octave: coarse counts, for parts of a stream that are too many for histograms (elements).
//
// Contract: slot 0 counts distance 0, slot k distances 2^(k−1) … 2^k − 1, kColdSlot first touches, kNotSampledSlot
// accesses that a sampling engine skips. The bins of a ReuseHistogram nest in the octaves, so that the octaves of a
// whole are the sums of its parts' octaves, exactly.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "sim/memory/reuse/histogram.hpp"

namespace rayreplay::memory {

inline constexpr std::size_t kOctaves = 33;
inline constexpr std::size_t kColdSlot = kOctaves;
inline constexpr std::size_t kNotSampledSlot = kOctaves + 1;
inline constexpr std::size_t kOctaveSlots = kOctaves + 2;

using OctaveCounts = std::array<std::uint64_t, kOctaveSlots>;

/// `distance`: of an engine, with its special values.
[[nodiscard]] constexpr std::size_t octave_slot(std::uint32_t distance) {
  if (distance >= kNotSampled) {
    return distance == kInfinite ? kColdSlot : kNotSampledSlot;
  }
  return static_cast<std::size_t>(std::bit_width(distance));
}

/// Lowest distance of an octave.
[[nodiscard]] constexpr std::uint32_t octave_first(std::size_t slot) {
  return slot == 0 ? 0 : std::uint32_t{1} << (slot - 1);
}

[[nodiscard]] inline OctaveCounts octaves_of(const ReuseHistogram& histogram) {
  OctaveCounts counts{};
  for (const ReuseHistogram::Bin& bin : histogram.bins()) {
    counts[octave_slot(bin.first)] += bin.count;
  }
  counts[kColdSlot] = histogram.cold();
  counts[kNotSampledSlot] = histogram.not_sampled();
  return counts;
}

}  // namespace rayreplay::memory
