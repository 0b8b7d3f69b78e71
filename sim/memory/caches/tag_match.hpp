// Finds a tag in a set: compares all ways at once.
//
// Contract: bit i of the result is tags[i] == tag, for kCount tags (4, 8 or 16). SSE2, which every x86-64 has;
// elsewhere, and for 64-bit tags, a loop without branches. AVX2 would save few instructions at 16 ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rayreplay::memory {

template <std::size_t kCount, class Tag>
[[nodiscard]] inline std::uint32_t match_tags(const Tag* tags, Tag tag) {
  static_assert(kCount == 4 || kCount == 8 || kCount == 16);
#if defined(__SSE2__)
  if constexpr (std::is_same_v<Tag, std::uint32_t>) {
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
    const auto compare = [&](std::size_t four) {
      return _mm_cmpeq_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(tags + 4 * four)), wanted);
    };
    if constexpr (kCount == 4) {
      return static_cast<std::uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(compare(0))));
    } else if constexpr (kCount == 8) {
      const __m128i words = _mm_packs_epi32(compare(0), compare(1));
      return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(words, _mm_setzero_si128())));
    } else {
      const __m128i low = _mm_packs_epi32(compare(0), compare(1));
      const __m128i high = _mm_packs_epi32(compare(2), compare(3));
      return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
    }
  }
#endif
  std::uint32_t result = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    result |= static_cast<std::uint32_t>(tags[i] == tag) << i;
  }
  return result;
}

/// Bit i of the result: marks[i] == mark, for 16 marks.
[[nodiscard]] inline std::uint64_t match_16_marks(const std::uint16_t* marks, std::uint16_t mark) {
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi16(static_cast<std::int16_t>(mark));
  const auto compare = [&](std::size_t eight) {
    return _mm_cmpeq_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(marks + 8 * eight)), wanted);
  };
  return static_cast<std::uint64_t>(_mm_movemask_epi8(_mm_packs_epi16(compare(0), compare(1))));
#else
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    result |= static_cast<std::uint64_t>(marks[i] == mark) << i;
  }
  return result;
#endif
}

/// … for 64 marks.
[[nodiscard]] inline std::uint64_t match_marks(const std::uint16_t* marks, std::uint16_t mark) {
  return match_16_marks(marks, mark) | match_16_marks(marks + 16, mark) << 16U |
         match_16_marks(marks + 32, mark) << 32U | match_16_marks(marks + 48, mark) << 48U;
}

}  // namespace rayreplay::memory
