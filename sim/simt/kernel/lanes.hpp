// The primitives of the replay loops: which lanes' heads equal a code, are below it, and the lowest of them.
//
// Contract: `Heads<Code, kLanes>` is a copy of the codes at the heads of a warp's queues, held in registers; masks have
// bit i for lane i. An instruction set defines `Vector` anew and nothing else. Included by the files that compile a
// kernel, which name their namespace (RAYREPLAY_SIMT_KERNEL) first; RAYREPLAY_SIMT_PORTABLE forgoes intrinsics.
#pragma once

#include <cstdint>

#if !defined(RAYREPLAY_SIMT_PORTABLE) && defined(__SSE2__)
#include <immintrin.h>
#endif

namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL {

inline unsigned count_lanes(std::uint64_t mask) {
  return static_cast<unsigned>(__builtin_popcountll(mask));
}
/// mask must not be 0.
inline unsigned lowest_lane(std::uint64_t mask) {
  return static_cast<unsigned>(__builtin_ctzll(mask));
}

/// Some codes side by side: load, splat, equal and below (unsigned) as masks, min, and the lowest of all.
template <class Code>
struct Vector;

#if !defined(RAYREPLAY_SIMT_PORTABLE) && defined(__AVX2__)

template <>
struct Vector<std::uint8_t> {
  static constexpr unsigned kWidth = 32;
  __m256i bits;

  static Vector load(const std::uint8_t* codes) {
    return {_mm256_load_si256(reinterpret_cast<const __m256i*>(codes))};
  }
  static Vector splat(std::uint8_t code) {
    return {_mm256_set1_epi8(static_cast<char>(code))};
  }
  static std::uint64_t mask(__m256i lanes) {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(lanes));
  }
  static std::uint64_t equal(Vector a, Vector b) {
    return mask(_mm256_cmpeq_epi8(a.bits, b.bits));
  }
  // No unsigned comparison before AVX-512: b − a saturates to 0 exactly where a is not below b.
  static std::uint64_t below(Vector a, Vector b) {
    return mask(_mm256_cmpeq_epi8(_mm256_subs_epu8(b.bits, a.bits), _mm256_setzero_si256())) ^ 0xFFFF'FFFFU;
  }
  static Vector min(Vector a, Vector b) {
    return {_mm256_min_epu8(a.bits, b.bits)};
  }
  static std::uint8_t lowest(Vector a) {
    // minpos works on 16 bits: the lower byte of each pair takes part as itself, the upper one shifted down.
    const __m128i half = _mm_min_epu8(_mm256_castsi256_si128(a.bits), _mm256_extracti128_si256(a.bits, 1));
    const __m128i pairs = _mm_min_epu8(_mm_and_si128(half, _mm_set1_epi16(0xFF)), _mm_srli_epi16(half, 8));
    return static_cast<std::uint8_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(pairs)));
  }
};

#elif !defined(RAYREPLAY_SIMT_PORTABLE) && defined(__SSE2__)

template <>
struct Vector<std::uint8_t> {
  static constexpr unsigned kWidth = 16;
  __m128i bits;

  static Vector load(const std::uint8_t* codes) {
    return {_mm_load_si128(reinterpret_cast<const __m128i*>(codes))};
  }
  static Vector splat(std::uint8_t code) {
    return {_mm_set1_epi8(static_cast<char>(code))};
  }
  static std::uint64_t mask(__m128i lanes) {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(lanes));
  }
  static std::uint64_t equal(Vector a, Vector b) {
    return mask(_mm_cmpeq_epi8(a.bits, b.bits));
  }
  // No unsigned comparison before AVX-512: b − a saturates to 0 exactly where a is not below b.
  static std::uint64_t below(Vector a, Vector b) {
    return mask(_mm_cmpeq_epi8(_mm_subs_epu8(b.bits, a.bits), _mm_setzero_si128())) ^ 0xFFFFU;
  }
  static Vector min(Vector a, Vector b) {
    return {_mm_min_epu8(a.bits, b.bits)};
  }
  static std::uint8_t lowest(Vector a) {
    __m128i v = a.bits;
    v = _mm_min_epu8(v, _mm_srli_si128(v, 8));
    v = _mm_min_epu8(v, _mm_srli_si128(v, 4));
    v = _mm_min_epu8(v, _mm_srli_si128(v, 2));
    v = _mm_min_epu8(v, _mm_srli_si128(v, 1));
    return static_cast<std::uint8_t>(_mm_cvtsi128_si32(v));
  }
};

#endif

#if !defined(RAYREPLAY_SIMT_PORTABLE) && defined(__SSE2__)

// The wide codes are the rare case: 128 bits serve AVX2 as well.
template <>
struct Vector<std::uint16_t> {
  static constexpr unsigned kWidth = 8;
  __m128i bits;

  static Vector load(const std::uint16_t* codes) {
    return {_mm_load_si128(reinterpret_cast<const __m128i*>(codes))};
  }
  static Vector splat(std::uint16_t code) {
    return {_mm_set1_epi16(static_cast<short>(code))};
  }
  static std::uint64_t mask(__m128i lanes) {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(lanes, _mm_setzero_si128())));
  }
  static std::uint64_t equal(Vector a, Vector b) {
    return mask(_mm_cmpeq_epi16(a.bits, b.bits));
  }
  static std::uint64_t below(Vector a, Vector b) {
    return mask(_mm_cmpeq_epi16(_mm_subs_epu16(b.bits, a.bits), _mm_setzero_si128())) ^ 0xFFU;
  }
  static Vector min(Vector a, Vector b) {
    return {_mm_sub_epi16(a.bits, _mm_subs_epu16(a.bits, b.bits))};
  }
  static std::uint16_t lowest(Vector a) {
    Vector v = min(a, {_mm_srli_si128(a.bits, 8)});
    v = min(v, {_mm_srli_si128(v.bits, 4)});
    v = min(v, {_mm_srli_si128(v.bits, 2)});
    return static_cast<std::uint16_t>(_mm_cvtsi128_si32(v.bits));
  }
};

#else

template <class Code>
struct Vector {
  static constexpr unsigned kWidth = 16;
  Code at[kWidth];

  static Vector load(const Code* codes) {
    Vector v;
    for (unsigned i = 0; i < kWidth; ++i) {
      v.at[i] = codes[i];
    }
    return v;
  }
  static Vector splat(Code code) {
    Vector v;
    for (unsigned i = 0; i < kWidth; ++i) {
      v.at[i] = code;
    }
    return v;
  }
  static std::uint64_t equal(const Vector& a, const Vector& b) {
    std::uint64_t mask = 0;
    for (unsigned i = 0; i < kWidth; ++i) {
      mask |= static_cast<std::uint64_t>(a.at[i] == b.at[i]) << i;
    }
    return mask;
  }
  static std::uint64_t below(const Vector& a, const Vector& b) {
    std::uint64_t mask = 0;
    for (unsigned i = 0; i < kWidth; ++i) {
      mask |= static_cast<std::uint64_t>(a.at[i] < b.at[i]) << i;
    }
    return mask;
  }
  static Vector min(const Vector& a, const Vector& b) {
    Vector v;
    for (unsigned i = 0; i < kWidth; ++i) {
      v.at[i] = a.at[i] < b.at[i] ? a.at[i] : b.at[i];
    }
    return v;
  }
  static Code lowest(const Vector& a) {
    Code code = a.at[0];
    for (unsigned i = 1; i < kWidth; ++i) {
      code = a.at[i] < code ? a.at[i] : code;
    }
    return code;
  }
};

#endif

template <class Code, unsigned kLanes>
class Heads {
 public:
  explicit Heads(const Code* codes) {
    for (unsigned i = 0; i < kParts; ++i) {
      part_[i] = V::load(codes + i * V::kWidth);
    }
  }
  [[nodiscard]] std::uint64_t equal(Code code) const {
    const V other = V::splat(code);
    std::uint64_t mask = 0;
    for (unsigned i = 0; i < kParts; ++i) {
      mask |= V::equal(part_[i], other) << (i * V::kWidth);
    }
    return mask;
  }
  [[nodiscard]] std::uint64_t below(Code code) const {
    const V other = V::splat(code);
    std::uint64_t mask = 0;
    for (unsigned i = 0; i < kParts; ++i) {
      mask |= V::below(part_[i], other) << (i * V::kWidth);
    }
    return mask;
  }
  [[nodiscard]] Code lowest() const {
    V v = part_[0];
    for (unsigned i = 1; i < kParts; ++i) {
      v = V::min(v, part_[i]);
    }
    return V::lowest(v);
  }

 private:
  using V = Vector<Code>;
  static constexpr unsigned kParts = kLanes / V::kWidth;
  static_assert(kParts * V::kWidth == kLanes);
  V part_[kParts];
};

}  // namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL
