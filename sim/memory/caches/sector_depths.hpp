// Depths of a line's sectors, a byte each, all at once: what lru_grid.hpp remembers of a line.
//
// Contract: byte s of a word is the greatest depth at which the line was found since sector s was touched (or stored
// to) last; 255: never. Words are 32 bits (4 sectors) or 64 (8). SSE2 where there is one; the same elsewhere.
#pragma once

#include <array>
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
  const auto touched = static_cast<Word>(kSectorBytes[access.sectors]);
  if ((depths & touched) == 0) {
    ++counts.whole[depth];
    counts.filled[depth] += access.store ? 0 : sector_count(access.sectors);
    depths = deepened(depths, depth) & static_cast<Word>(~touched);
    return;
  }
  const Word now = deepened(depths, depth);
  std::uint8_t worst = 0;
  for (std::size_t s = 0; s < sizeof(Word); ++s) {
    if ((access.sectors >> s & 1U) != 0) {
      const std::uint8_t one = sector_depth(now, s);
      worst = one > worst ? one : worst;
      counts.filled[one] += access.store ? 0 : 1;
    }
  }
  ++counts.whole[worst];
  depths = now & static_cast<Word>(~touched);
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
