// Depths of a line's sectors, a byte each, all at once: what lru_grid.hpp remembers of a line.
//
// Contract: byte s of a word is the greatest depth at which the line was found since sector s was touched (or stored
// to) last; 255: never. Words are 32 bits (4 sectors) or 64 (8). SSE2 where there is one; the same elsewhere.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "sim/memory/caches/lru_grid_pass.hpp"
#include "sim/memory/caches/sector_count.hpp"

namespace rayreplay::memory {

/// 255 in the bytes of a mask's sectors.
inline constexpr std::array<std::uint64_t, 256> kSectorBytes = [] {
  std::array<std::uint64_t, 256> bytes{};
  for (std::size_t mask = 0; mask < 256; ++mask) {
    for (std::size_t s = 0; s < 8; ++s) {
      bytes[mask] |= (mask >> s & 1U) != 0 ? std::uint64_t{255} << (8 * s) : 0;
    }
  }
  return bytes;
}();

/// Each byte, or `depth` where that is more.
template <class Word>
[[nodiscard]] inline Word deepened(Word word, std::uint8_t depth) {
#if defined(__SSE2__)
  const __m128i all =
      _mm_max_epu8(_mm_cvtsi64_si128(static_cast<long long>(word)), _mm_set1_epi8(static_cast<char>(depth)));
  return static_cast<Word>(_mm_cvtsi128_si64(all));
#else
  Word result = 0;
  for (std::size_t s = 0; s < sizeof(Word); ++s) {
    const auto byte = static_cast<std::uint8_t>(word >> (8 * s));
    result |= static_cast<Word>(byte > depth ? byte : depth) << (8 * s);
  }
  return result;
#endif
}

template <class Word>
[[nodiscard]] inline std::uint8_t sector_depth(Word word, std::size_t sector) {
  return static_cast<std::uint8_t>(word >> (8 * sector));
}

/// What an access at `depth` finds of the sectors, counted and remembered.
template <class Word>
inline void touch_sectors(Word& depths, const GridAccess& access, std::uint8_t depth, GridDepths& counts) {
  const Word now = deepened(depths, depth);
  const auto touched = static_cast<Word>(kSectorBytes[access.sectors]);
  depths = now & static_cast<Word>(~touched);
  const auto load = static_cast<std::uint64_t>(!access.store);
  std::uint32_t left = access.sectors;
  constexpr Word kOnes = static_cast<Word>(~Word{0}) / 255;
  if ((left & (left - 1)) != 0 && ((now ^ depth * kOnes) & touched) == 0) {
    // As a rule none of several is missing that the line is not.
    ++counts.whole[depth];
    counts.filled[depth] += load * sector_count(access.sectors);
    return;
  }
  std::uint8_t worst = sector_depth(now, static_cast<std::size_t>(std::countr_zero(left)));
  counts.filled[worst] += load;
  for (left &= left - 1; left != 0; left &= left - 1) {
    const std::uint8_t one = sector_depth(now, static_cast<std::size_t>(std::countr_zero(left)));
    counts.filled[one] += load;
    worst = one > worst ? one : worst;
  }
  ++counts.whole[worst];
}

/// Dirty sectors of a line that was evicted with up to `depth` ways since it was found last.
template <class Word>
inline void write_dirty(Word& dirty, std::uint8_t depth, GridDepths& counts) {
  constexpr auto kClean = static_cast<Word>(~Word{0});
  if (dirty == kClean) {
    return;
  }
  for (std::size_t s = 0; s < sizeof(Word); ++s) {
    const std::uint8_t one = sector_depth(dirty, s);
    if (one < depth) {
      counts.add_written(one, depth);
    }
  }
  dirty = deepened(dirty, depth);
}

}  // namespace rayreplay::memory
