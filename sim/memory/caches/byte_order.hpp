// A set's slots in the order of their last use, a byte each: found and moved to the front all at once.
//
// Contract: kBytes (a multiple of 16) bytes, and one before them that may be written. `match` gives bit i for bytes[i]
// == byte, of 64 bytes from `from` on. `to_front` puts `byte` first and moves bytes [0, depth) back by one. SSE2, which
// every x86-64 has; loops elsewhere. No branches on the data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rayreplay::memory {

inline constexpr std::array<std::uint8_t, 256> kByteNumbers = [] {
  std::array<std::uint8_t, 256> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<std::uint8_t>(i);
  }
  return numbers;
}();

/// Bits of kCount bytes, 16, 32 or 64.
template <std::size_t kCount>
[[nodiscard]] inline std::uint64_t match_bytes(const std::uint8_t* bytes, std::uint8_t byte) {
  static_assert(kCount % 16 == 0 && kCount <= 64);
  std::uint64_t result = 0;
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(byte));
  for (std::size_t i = 0; i < kCount; i += 16) {
    const __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i)), wanted);
    result |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(equal))) << i;
  }
#else
  for (std::size_t i = 0; i < kCount; ++i) {
    result |= static_cast<std::uint64_t>(bytes[i] == byte) << i;
  }
#endif
  return result;
}

template <std::size_t kBytes>
inline void to_front(std::uint8_t* bytes, std::uint8_t depth, std::uint8_t byte) {
#if defined(__SSE2__)
  bytes[-1] = byte;
  const __m128i last = _mm_set1_epi8(static_cast<char>(depth));
  for (std::size_t i = kBytes; i != 0;) {
    i -= 16;
    auto* const here = reinterpret_cast<__m128i*>(bytes + i);
    const __m128i old = _mm_loadu_si128(here);
    const __m128i moved = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i - 1));
    const __m128i number = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kByteNumbers.data() + i));
    const __m128i taken = _mm_cmpeq_epi8(_mm_min_epu8(number, last), number);
    _mm_storeu_si128(here, _mm_or_si128(_mm_and_si128(taken, moved), _mm_andnot_si128(taken, old)));
  }
#else
  std::memmove(bytes + 1, bytes, depth);
  bytes[0] = byte;
#endif
}

}  // namespace rayreplay::memory
