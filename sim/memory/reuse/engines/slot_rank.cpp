#include "sim/memory/reuse/engines/slot_rank.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rayreplay::memory {
namespace {

using View = SlotRank::View;

constexpr unsigned kWordBits = 6;    ///< slots of a word
constexpr unsigned kRowBits = 12;    ///< slots of 64 words
constexpr unsigned kPlateBits = 17;  ///< slots of 32 rows
constexpr unsigned kTopBits = 21;    ///< slots of 16 plates
constexpr std::size_t kGroup = 16;   ///< accesses with independent sums
constexpr std::size_t kAhead = 2;    ///< groups from prefetch to use

/// Of a group: its own slots that are live after it, and the accesses that free an older slot.
struct GroupMasks {
  std::uint32_t set = 0;
  std::uint32_t leave = 0;
};

inline std::uint64_t bits_after(const View& view, std::uint32_t slot) {
  return view.bits[slot >> kWordBits] & (~std::uint64_t{1} << (slot & 63U));
}

inline std::uint32_t tops_beyond(const View& view, std::uint32_t slot) {
  std::uint32_t sum = 0;
  for (std::size_t i = ((slot >> kTopBits) | 15U) + 1; i < view.top_count; ++i) {
    sum += view.tops[i];
  }
  return sum;
}

/// Masks: the window at kAfter + size − 1 − i has zeros up to position i, ones after it.
template <class T, std::size_t kSize>
constexpr std::array<T, 2 * kSize> make_after() {
  std::array<T, 2 * kSize> result{};
  for (std::size_t i = kSize; i < 2 * kSize; ++i) {
    result[i] = static_cast<T>(~T{0});
  }
  return result;
}
alignas(64) constexpr auto kAfter8 = make_after<std::uint8_t, 64>();
alignas(64) constexpr auto kAfter16 = make_after<std::uint16_t, 32>();
alignas(64) constexpr auto kAfter32 = make_after<std::uint32_t, 16>();

template <std::size_t kSize, class T>
inline std::uint32_t sum_after(const T* counts, std::uint32_t place, const std::array<T, 2 * kSize>& after) {
  const std::uint32_t inside = place & (kSize - 1);
  const T* const group = counts + (place - inside);
  const T* const mask = after.data() + (kSize - 1 - inside);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    sum += static_cast<std::uint32_t>(group[i] & mask[i]);
  }
  return sum;
}

GroupMasks group_portable(const View& view, const std::uint32_t* previous, std::uint32_t start, std::size_t n,
                          std::uint32_t* out) {
  GroupMasks masks;
  masks.set = (1U << n) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    if (previous[i] == 0) {
      out[i] = kInfinite;
      continue;
    }
    const std::uint32_t slot = previous[i] - 1;
    std::uint32_t left = 0;
    for (std::size_t j = 0; j < i; ++j) {
      left += previous[j] > previous[i] ? 1U : 0U;
    }
    const auto place = static_cast<std::uint32_t>(i);
    if (slot >= start) {
      masks.set &= ~(1U << (slot - start));
      out[i] = start + place - (slot + 1) - left;
      continue;
    }
    masks.leave |= 1U << i;
    out[i] = static_cast<std::uint32_t>(std::popcount(bits_after(view, slot))) +
             sum_after<64>(view.words, slot >> kWordBits, kAfter8) +
             sum_after<32>(view.rows, slot >> kRowBits, kAfter16) +
             sum_after<16>(view.plates, slot >> kPlateBits, kAfter32) +
             sum_after<16>(view.tops, slot >> kTopBits, kAfter32) + tops_beyond(view, slot) + place - left;
  }
  return masks;
}

#if defined(__x86_64__)

#define RAYREPLAY_REUSE_AVX2 __attribute__((target("avx2,popcnt")))
#define RAYREPLAY_REUSE_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi")))

template <class T>
RAYREPLAY_REUSE_AVX2 inline __m256i load256(const T* memory) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(memory));
}

/// counts[place & ~(n − 1) …] with only those after `place`: the first and the second half of 64 bytes.
template <std::size_t kSize, class T>
RAYREPLAY_REUSE_AVX2 inline void after256(const T* counts, std::uint32_t place, const std::array<T, 2 * kSize>& after,
                                          __m256i& low, __m256i& high) {
  const std::uint32_t inside = place & (kSize - 1);
  const T* const group = counts + (place - inside);
  const T* const mask = after.data() + (kSize - 1 - inside);
  low = _mm256_and_si256(load256(group), load256(mask));
  high = _mm256_and_si256(load256(group + kSize / 2), load256(mask + kSize / 2));
}

RAYREPLAY_REUSE_AVX2 GroupMasks group_avx2(const View& view, const std::uint32_t* previous, std::uint32_t start,
                                           std::size_t n, std::uint32_t* out) {
  alignas(32) std::array<std::uint32_t, kGroup> padded{};
  for (std::size_t i = 0; i < n; ++i) {
    padded[i] = previous[i];
  }
  const __m256i low_previous = load256(padded.data());
  const __m256i high_previous = load256(padded.data() + 8);
  const __m256i zero = _mm256_setzero_si256();
  const __m256i ones = _mm256_set1_epi16(1);
  GroupMasks masks;
  masks.set = (1U << n) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    if (padded[i] == 0) {
      out[i] = kInfinite;
      continue;
    }
    const std::uint32_t slot = padded[i] - 1;
    // Numbers are at most 2^31; minus one, signed comparison is valid.
    const __m256i mine = _mm256_set1_epi32(static_cast<int>(slot));
    const __m256i one = _mm256_set1_epi32(1);
    const auto low = static_cast<unsigned>(
        _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_sub_epi32(low_previous, one), mine))));
    const auto high = static_cast<unsigned>(
        _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_sub_epi32(high_previous, one), mine))));
    const auto left = static_cast<std::uint32_t>(__builtin_popcount((low | high << 8U) & ((1U << i) - 1)));
    const auto place = static_cast<std::uint32_t>(i);
    if (slot >= start) {
      masks.set &= ~(1U << (slot - start));
      out[i] = start + place - (slot + 1) - left;
      continue;
    }
    masks.leave |= 1U << i;
    __m256i a, b;
    after256<64>(view.words, slot >> kWordBits, kAfter8, a, b);
    __m256i sum = _mm256_add_epi32(_mm256_sad_epu8(a, zero), _mm256_sad_epu8(b, zero));
    after256<32>(view.rows, slot >> kRowBits, kAfter16, a, b);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_add_epi16(a, b), ones));
    after256<16>(view.plates, slot >> kPlateBits, kAfter32, a, b);
    sum = _mm256_add_epi32(sum, _mm256_add_epi32(a, b));
    after256<16>(view.tops, slot >> kTopBits, kAfter32, a, b);
    sum = _mm256_add_epi32(sum, _mm256_add_epi32(a, b));
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1));
    out[i] = static_cast<std::uint32_t>(_mm_cvtsi128_si32(half)) +
             static_cast<std::uint32_t>(__builtin_popcountll(bits_after(view, slot))) + tops_beyond(view, slot) +
             place - left;
  }
  return masks;
}

// GCC 12 warns about its own headers for intrinsics that fold or halve a vector.
template <int kWhich>
RAYREPLAY_REUSE_AVX512 inline __m256i half512(__m512i v) {
  return _mm512_maskz_extracti64x4_epi64(0xFF, v, kWhich);
}

RAYREPLAY_REUSE_AVX512 inline int reduce_add512(__m512i v) {
  const __m256i half = _mm256_add_epi32(half512<0>(v), half512<1>(v));
  __m128i quarter = _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  quarter = _mm_add_epi32(quarter, _mm_shuffle_epi32(quarter, 0x4E));
  return _mm_cvtsi128_si32(_mm_add_epi32(quarter, _mm_shuffle_epi32(quarter, 0xB1)));
}

RAYREPLAY_REUSE_AVX512 inline int reduce_or512(__m512i v) {
  const __m256i half = _mm256_or_si256(half512<0>(v), half512<1>(v));
  __m128i quarter = _mm_or_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  quarter = _mm_or_si128(quarter, _mm_shuffle_epi32(quarter, 0x4E));
  return _mm_cvtsi128_si32(_mm_or_si128(quarter, _mm_shuffle_epi32(quarter, 0xB1)));
}

RAYREPLAY_REUSE_AVX512 GroupMasks group_avx512(const View& view, const std::uint32_t* previous, std::uint32_t start,
                                               std::size_t n, std::uint32_t* out) {
  const auto present = static_cast<__mmask16>((1U << n) - 1);
  const __m512i slots =
      _mm512_sub_epi32(_mm512_maskz_loadu_epi32(present, previous), _mm512_set1_epi32(1));  // −1: none
  const __mmask16 seen = _mm512_cmpge_epi32_mask(slots, _mm512_setzero_si512());
  const __m512i starts = _mm512_set1_epi32(static_cast<int>(start));
  const __mmask16 inside = _mm512_cmpge_epi32_mask(slots, starts);  // start is below 2^31
  GroupMasks masks;
  masks.leave = static_cast<std::uint32_t>(seen & ~inside);
  const __m512i own = _mm512_maskz_sllv_epi32(inside, _mm512_set1_epi32(1), _mm512_sub_epi32(slots, starts));
  masks.set = ((1U << n) - 1) & ~static_cast<std::uint32_t>(reduce_or512(own));
  // place − left, and the position in the group from the slot on
  alignas(64) std::array<std::uint32_t, kGroup> result;
  alignas(64) std::array<std::uint32_t, kGroup> slot_of;
  _mm512_store_si512(slot_of.data(), slots);
  for (std::size_t i = 0; i < n; ++i) {
    const __mmask16 later = _mm512_cmpgt_epi32_mask(slots, _mm512_set1_epi32(static_cast<int>(slot_of[i])));
    const auto left =
        static_cast<std::uint32_t>(__builtin_popcount(static_cast<std::uint32_t>(later) & ((1U << i) - 1)));
    result[i] = static_cast<std::uint32_t>(i) - left;
  }
  const __m512i from = _mm512_maskz_sub_epi32(inside, _mm512_add_epi32(slots, _mm512_set1_epi32(1)), starts);
  __m512i distances = _mm512_sub_epi32(_mm512_load_si512(result.data()), from);
  distances = _mm512_mask_mov_epi32(_mm512_set1_epi32(-1), seen, distances);
  _mm512_mask_storeu_epi32(out, present, distances);

  const __m512i zero = _mm512_setzero_si512();
  const __m512i ones = _mm512_set1_epi16(1);
  for (std::uint32_t rest = masks.leave; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(__builtin_ctz(rest));
    const std::uint32_t slot = slot_of[i];
    const std::uint32_t word = slot >> kWordBits, row = slot >> kRowBits, plate = slot >> kPlateBits,
                        top = slot >> kTopBits;
    const __m512i words = _mm512_maskz_loadu_epi8(~std::uint64_t{1} << (word & 63U), view.words + (word & ~63U));
    const __m512i rows = _mm512_maskz_loadu_epi16(~1U << (row & 31U), view.rows + (row & ~31U));
    const __m512i plates =
        _mm512_maskz_loadu_epi32(static_cast<__mmask16>(~1U << (plate & 15U)), view.plates + (plate & ~15U));
    const __m512i tops = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(~1U << (top & 15U)), view.tops + (top & ~15U));
    const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(_mm512_sad_epu8(words, zero), _mm512_madd_epi16(rows, ones)),
                                         _mm512_add_epi32(plates, tops));
    out[i] += static_cast<std::uint32_t>(reduce_add512(sum)) +
              static_cast<std::uint32_t>(__builtin_popcountll(bits_after(view, slot))) + tops_beyond(view, slot);
  }
  return masks;
}

#endif

inline void leave_slot(const View view, std::uint32_t slot) {
  view.bits[slot >> kWordBits] &= ~(std::uint64_t{1} << (slot & 63U));
  --view.words[slot >> kWordBits];
  --view.rows[slot >> kRowBits];
  --view.plates[slot >> kPlateBits];
  --view.tops[slot >> kTopBits];
}

inline void take_slots(const View view, std::uint32_t word, std::uint64_t bits) {
  const auto count = static_cast<std::uint32_t>(std::popcount(bits));
  view.bits[word] |= bits;
  view.words[word] = static_cast<std::uint8_t>(view.words[word] + count);
  std::uint16_t& row = view.rows[word >> (kRowBits - kWordBits)];
  row = static_cast<std::uint16_t>(row + count);
  view.plates[word >> (kPlateBits - kWordBits)] += count;
  view.tops[word >> (kTopBits - kWordBits)] += count;
}

/// Always inlined into a function with the form's instruction set, so that popcounts are instructions.
template <auto kGroupForm>
[[gnu::always_inline]] inline std::uint64_t run(const View view, std::span<const std::uint32_t> previous,
                                                std::uint32_t now, std::uint32_t* out) {
  std::uint64_t fresh = 0;
  for (std::size_t at = 0; at < previous.size(); at += kGroup) {
    const std::size_t n = std::min(kGroup, previous.size() - at);
    const std::size_t soon_end = std::min(previous.size(), at + (kAhead + 1) * kGroup);
    for (std::size_t i = at + kAhead * kGroup; i < soon_end; ++i) {
      const std::uint32_t slot = previous[i] != 0 ? previous[i] - 1 : now;
      __builtin_prefetch(&view.bits[slot >> kWordBits], 1);
      __builtin_prefetch(&view.words[slot >> kWordBits], 1);
    }
    const std::uint32_t start = now + static_cast<std::uint32_t>(at);
    const GroupMasks masks = kGroupForm(view, previous.data() + at, start, n, out + at);
    const unsigned shift = start & 63U;
    take_slots(view, start >> kWordBits, std::uint64_t{masks.set} << shift);
    if (shift + n > 64) {
      take_slots(view, (start >> kWordBits) + 1, std::uint64_t{masks.set} >> (64 - shift));
    }
    for (std::uint32_t rest = masks.leave; rest != 0; rest &= rest - 1) {
      leave_slot(view, previous[at + static_cast<std::size_t>(std::countr_zero(rest))] - 1);
    }
    fresh +=
        static_cast<std::uint64_t>(std::popcount(masks.set)) - static_cast<std::uint64_t>(std::popcount(masks.leave));
  }
  return fresh;
}

std::uint64_t run_portable(const View& view, std::span<const std::uint32_t> previous, std::uint32_t now,
                           std::uint32_t* out) {
  return run<group_portable>(view, previous, now, out);
}

#if defined(__x86_64__)

RAYREPLAY_REUSE_AVX2 std::uint64_t run_avx2(const View& view, std::span<const std::uint32_t> previous,
                                            std::uint32_t now, std::uint32_t* out) {
  return run<group_avx2>(view, previous, now, out);
}

RAYREPLAY_REUSE_AVX512 std::uint64_t run_avx512(const View& view, std::span<const std::uint32_t> previous,
                                                std::uint32_t now, std::uint32_t* out) {
  return run<group_avx512>(view, previous, now, out);
}

#endif

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

SlotRank::Form SlotRank::best_form() {
  return forms().back();
}

std::vector<SlotRank::Form> SlotRank::forms() {
  std::vector<Form> result = {Form::Portable};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) {
    result.push_back(Form::Avx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi")) {
      result.push_back(Form::Avx512);
    }
  }
#endif
  return result;
}

SlotRank::SlotRank(std::uint64_t capacity, Form form)
    : capacity_(std::min(round_up(std::max<std::uint64_t>(capacity, 1), std::uint64_t{1} << kRowBits), kMaxSlots)),
      form_(form),
      bits_(capacity_ >> kWordBits),
      words_(capacity_ >> kWordBits),
      rows_(round_up(capacity_ >> kRowBits, 32)),
      plates_(round_up((capacity_ >> kPlateBits) + 1, 16)),
      tops_(round_up((capacity_ >> kTopBits) + 1, 16)) {}

void SlotRank::distances(std::span<const std::uint32_t> previous, std::uint32_t* out) {
  if (previous.size() > capacity_ - now_) {
    throw Error(ErrorKind::Internal, {"more accesses than free slots of time", "", "", "", ""});
  }
  const View view{bits_.data(), words_.data(), rows_.data(), plates_.data(), tops_.data(), tops_.size()};
  std::uint64_t fresh = 0;
  switch (form_) {
#if defined(__x86_64__)
    case Form::Avx512:
      fresh = run_avx512(view, previous, now_, out);
      break;
    case Form::Avx2:
      fresh = run_avx2(view, previous, now_, out);
      break;
#endif
    default:
      fresh = run_portable(view, previous, now_, out);
  }
  live_ += fresh;
  now_ += static_cast<std::uint32_t>(previous.size());
}

std::uint64_t SlotRank::memory_bytes() const {
  return bits_.size() * sizeof(std::uint64_t) + words_.size() + rows_.size() * sizeof(std::uint16_t) +
         (plates_.size() + tops_.size()) * sizeof(std::uint32_t);
}

void SlotRank::recount(std::uint32_t now) {
  std::fill_n(rows_.data(), rows_.size(), std::uint16_t{0});
  std::fill_n(plates_.data(), plates_.size(), 0U);
  std::fill_n(tops_.data(), tops_.size(), 0U);
  live_ = 0;
  for (std::size_t word = 0; word < bits_.size(); ++word) {
    const std::uint32_t count = count_bits(bits_.data()[word]);
    words_.data()[word] = static_cast<std::uint8_t>(count);
    std::uint16_t& row = rows_.data()[word >> (kRowBits - kWordBits)];
    row = static_cast<std::uint16_t>(row + count);
    live_ += count;
  }
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const std::uint32_t count = rows_.data()[row];
    if (count != 0) {
      plates_.data()[row >> (kPlateBits - kRowBits)] += count;
      tops_.data()[row >> (kTopBits - kRowBits)] += count;
    }
  }
  now_ = now;
}

std::vector<std::uint32_t> SlotRank::ranks() const {
  std::vector<std::uint32_t> result(bits_.size());
  std::uint32_t sum = 0;
  for (std::size_t word = 0; word < bits_.size(); ++word) {
    result[word] = sum;
    sum += words_.data()[word];
  }
  return result;
}

void SlotRank::restart(std::uint64_t live) {
  const std::size_t whole = live >> kWordBits;
  std::fill_n(bits_.data(), whole, ~std::uint64_t{0});
  std::fill_n(bits_.data() + whole, bits_.size() - whole, std::uint64_t{0});
  if ((live & 63U) != 0) {
    bits_.data()[whole] = (std::uint64_t{1} << (live & 63U)) - 1;
  }
  recount(static_cast<std::uint32_t>(live));
}

}  // namespace rayreplay::memory
