// Stacks of up to 254 lines a set.
//
// A set is one record: what is on top, the order of its slots by last use, eight bits of each slot's line to find it
// by, and by slot the line and the depths of its sectors. A line keeps its slot while it is on the stack.
#include "sim/memory/caches/lru_grid_pass.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "sim/memory/caches/byte_order.hpp"
#include "sim/memory/caches/sector_depths.hpp"
#include "sim/memory/caches/set_number.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::size_t kBatch = 64;  ///< accesses whose sets are fetched together
constexpr std::uint8_t kGone = static_cast<std::uint8_t>(GridDepths::kGone);
constexpr std::uint32_t kNoLine = 0xFFFF'FFFFU;
constexpr std::size_t kCacheLine = 64;

[[nodiscard]] constexpr std::size_t round_up(std::size_t size, std::size_t to) {
  return (size + to - 1) / to * to;
}

[[nodiscard]] std::uint8_t signature(std::uint32_t line) {
  return static_cast<std::uint8_t>((line * 0x9E37'79B1U) >> 24U);
}

struct Size {
  std::uint32_t sets = 1, records = 1, ways = 1;
};

namespace portable {

template <std::size_t kCount>
std::uint64_t match(const std::uint8_t* bytes, std::uint8_t byte) {
  return match_bytes<kCount>(bytes, byte);
}
template <std::size_t kBytes>
void move_to_front(std::uint8_t* bytes, std::uint8_t depth, std::uint8_t byte) {
  to_front<kBytes>(bytes, depth, byte);
}

#include "sim/memory/caches/lru_grid_stacked_form.hpp"

}  // namespace portable

#if defined(__x86_64__)
// What follows is compiled for processors that have these, and runs on no other.
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vbmi,bmi,bmi2,lzcnt,popcnt")
namespace avx512 {

template <std::size_t kCount>
std::uint64_t match(const std::uint8_t* bytes, std::uint8_t byte) {
  if constexpr (kCount == 64) {
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(bytes), _mm512_set1_epi8(static_cast<char>(byte)));
  } else {
    return match_bytes<kCount>(bytes, byte);
  }
}

/// For each byte the one before it.
alignas(64) constexpr std::array<std::uint8_t, 64> kBefore = [] {
  std::array<std::uint8_t, 64> before{};
  for (std::size_t i = 1; i < before.size(); ++i) {
    before[i] = static_cast<std::uint8_t>(i - 1);
  }
  return before;
}();

template <std::size_t kBytes>
void move_to_front(std::uint8_t* bytes, std::uint8_t depth, std::uint8_t byte) {
  if constexpr (kBytes % 64 == 0) {
    const __m512i before = _mm512_load_si512(kBefore.data());
    std::uint8_t carried = byte;
    for (std::size_t from = 0; from < kBytes && from <= depth; from += 64) {
      const std::uint8_t last = bytes[from + 63];
      const std::size_t upto = std::min<std::size_t>(depth - from, 63);
      const std::uint64_t moved = ~std::uint64_t{0} >> (63 - upto);
      const __m512i old = _mm512_loadu_si512(bytes + from);
      const __m512i shifted = _mm512_mask_permutexvar_epi8(old, moved, before, old);
      _mm512_storeu_si512(bytes + from, _mm512_mask_set1_epi8(shifted, 1, static_cast<char>(carried)));
      carried = last;
    }
  } else {
    to_front<kBytes>(bytes, depth, byte);
  }
}

#include "sim/memory/caches/lru_grid_stacked_form.hpp"

}  // namespace avx512
#pragma GCC pop_options
#endif

}  // namespace

std::unique_ptr<GridPass> make_stacked_pass(std::uint64_t sets, std::uint64_t ways, std::uint64_t span,
                                            const GridRules& rules) {
  // A set never has more lines than there are; a set that no line can be of is never used.
  const auto most = static_cast<std::uint32_t>(std::clamp<std::uint64_t>((span + sets - 1) / sets, 1, ways));
  const Size size{static_cast<std::uint32_t>(sets), static_cast<std::uint32_t>(std::min(sets, span)), most};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("bmi2")) {
    return avx512::make_for(size, rules);
  }
#endif
  return portable::make_for(size, rules);
}

}  // namespace rayreplay::memory
