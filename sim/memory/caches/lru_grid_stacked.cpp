// LRU stacks of up to 254 lines a set.
//
// A set's stack has its lines, the last used first. A line's depth is its position. A shift moves it to the front, in
// registers if they are wide enough. The tag of a line is line / sets if that fits into 16 bits; else its number, with
// 16 bits while numbers are small, then 32. The state of a line's sectors is stored elsewhere, by line number.
#include "sim/memory/caches/lru_grid_pass.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "sim/memory/caches/sector_depths.hpp"
#include "sim/memory/caches/set_number.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::uint32_t kShortLines = 1U << 16U;  ///< numbers below fit into 16 bits

struct Size {
  std::uint32_t sets = 1, records = 1, ways = 1;
  bool by_number = true;
};

/// Zeroed and cache-line aligned; untouched pages use no memory.
template <class Tag>
class Stacks {
 public:
  Stacks() = default;
  explicit Stacks(std::size_t size) : memory_(std::calloc(size * sizeof(Tag) + kLine, 1)) {
    if (memory_ == nullptr) {
      throw std::bad_alloc();
    }
    std::size_t room = size * sizeof(Tag) + kLine;
    void* at = memory_.get();
    first_ = static_cast<Tag*>(std::align(kLine, size * sizeof(Tag), at, room));
  }
  [[nodiscard]] bool empty() const {
    return first_ == nullptr;
  }
  [[nodiscard]] Tag* begin() const {
    return first_;
  }

 private:
  static constexpr std::size_t kLine = 64;
  struct Free {
    void operator()(void* memory) const {
      std::free(memory);
    }
  };
  std::unique_ptr<void, Free> memory_;
  Tag* first_ = nullptr;
};

namespace portable {

/// Bit i is tags[i] == tag, for 16 tags.
template <class Tag>
std::uint32_t match(const Tag* tags, Tag tag) {
  std::uint32_t result = 0;
#if defined(__SSE2__)
  constexpr std::size_t kVectors = sizeof(Tag);
  struct Lanes {
    __m128i bits;
  };
  std::array<Lanes, kVectors> equal;
  for (std::size_t v = 0; v < kVectors; ++v) {
    const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(tags) + v);
    equal[v].bits = sizeof(Tag) == 2 ? _mm_cmpeq_epi16(some, _mm_set1_epi16(static_cast<short>(tag)))
                                     : _mm_cmpeq_epi32(some, _mm_set1_epi32(static_cast<int>(tag)));
  }
  if constexpr (sizeof(Tag) == 4) {
    equal[0].bits = _mm_packs_epi32(equal[0].bits, equal[1].bits);
    equal[1].bits = _mm_packs_epi32(equal[2].bits, equal[3].bits);
  }
  result = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(equal[0].bits, equal[1].bits)));
#else
  for (std::size_t i = 0; i < 16; ++i) {
    result |= static_cast<std::uint32_t>(tags[i] == tag) << i;
  }
#endif
  return result;
}

/// The depth of `tag`, or kGone.
template <std::size_t kLanes, class Tag>
std::uint8_t depth_in(const Tag* tags, Tag tag) {
  for (std::size_t from = 0; from < kLanes; from += 16) {
    if (const std::uint32_t same = match(tags + from, tag); same != 0) {
      return static_cast<std::uint8_t>(from + static_cast<std::size_t>(std::countr_zero(same)));
    }
  }
  return GridDepths::kGone;
}

/// Moves `tag` to the front; returns its old depth, or kLanes or more.
template <std::size_t kLanes, class Tag>
std::uint8_t to_front(Tag* tags, Tag tag) {
  for (std::size_t from = 0; from < kLanes; from += 16) {
    if (const std::uint32_t same = match(tags + from, tag); same != 0) {
      const std::size_t depth = from + static_cast<std::size_t>(std::countr_zero(same));
      std::memmove(tags + 1, tags, depth * sizeof(Tag));
      tags[0] = tag;
      return static_cast<std::uint8_t>(depth);
    }
  }
  std::memmove(tags + 1, tags, (kLanes - 1) * sizeof(Tag));
  tags[0] = tag;
  return GridDepths::kGone;
}

/// Processes the accesses one by one, with tags by number.
template <std::size_t kLanes, class Tag>
void to_front_of_one(Tag* tags, std::span<const GridAccess> accesses, std::uint8_t* depths) {
  for (const GridAccess& access : accesses) {
    *depths++ = to_front<kLanes>(tags, static_cast<Tag>(access.number));
  }
}

#include "sim/memory/caches/lru_grid_stacked_form.hpp"

}  // namespace portable

#if defined(__x86_64__)
// The following code is compiled for, and runs only on, processors with these instructions.
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,bmi,bmi2,lzcnt,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,bmi,bmi2,lzcnt,popcnt")
#endif
namespace avx512 {

using portable::depth_in;

/// Shifts by one lane; lane 0 gets the last lane of the other operand.
template <class Tag>
inline constexpr auto kBefore = [] {
  constexpr std::size_t kCount = 64 / sizeof(Tag);
  std::array<Tag, kCount> before{};
  for (std::size_t i = 0; i < kCount; ++i) {
    before[i] = static_cast<Tag>((i + 2 * kCount - 1) % (2 * kCount));
  }
  return before;
}();

template <class Tag>
[[gnu::always_inline]] inline __m512i all_of(Tag tag) {
  if constexpr (sizeof(Tag) == 2) {
    return _mm512_set1_epi16(static_cast<short>(tag));
  } else {
    return _mm512_set1_epi32(static_cast<int>(tag));
  }
}

template <class Tag>
[[gnu::always_inline]] inline std::uint64_t equal(__m512i a, __m512i b) {
  if constexpr (sizeof(Tag) == 2) {
    return _mm512_cmpeq_epi16_mask(a, b);
  } else {
    return _mm512_cmpeq_epi32_mask(a, b);
  }
}

/// The lanes of `moved` get the value of the lane before.
template <class Tag>
[[gnu::always_inline]] inline __m512i moved_back(__m512i lanes, __m512i before, std::uint64_t moved) {
  const __m512i index = _mm512_loadu_si512(kBefore<Tag>.data());
  if constexpr (sizeof(Tag) == 2) {
    return _mm512_mask_permutex2var_epi16(lanes, static_cast<__mmask32>(moved), index, before);
  } else {
    return _mm512_mask_permutex2var_epi32(lanes, static_cast<__mmask16>(moved), index, before);
  }
}

struct Lanes {
  __m512i bits;
};

/// As the portable form. Up to 64 lanes without branches, because they would be unpredictable. GCC 12 at -O1 with the
/// checks of ASan or UBSan (either one suffices) miscompiles this: depths are wrong from the second vector on, which
/// tests notice. Without the sanitizers it is correct at -O0, -O1 and -O3. The cause is not known.
template <std::size_t kLanes, class Tag>
[[gnu::no_sanitize("undefined", "address")]] inline std::uint8_t to_front(Tag* tags, Tag tag) {
  constexpr std::size_t kVector = 64 / sizeof(Tag);
  constexpr std::size_t kStep = std::min<std::size_t>(kLanes, 64);
  constexpr std::size_t kVectors = kStep / kVector;
  const __m512i wanted = all_of(tag);
  __m512i before = wanted;
  for (std::size_t from = 0; from < kLanes; from += kStep) {
    std::array<Lanes, kVectors> old;
    std::uint64_t same = 0;
    for (std::size_t v = 0; v < kVectors; ++v) {
      old[v].bits = _mm512_load_si512(tags + from + v * kVector);
      same |= equal<Tag>(old[v].bits, wanted) << (v * kVector);
    }
    // Up to the found lane, or all of them.
    const std::uint64_t moved = same ^ (same - 1);
    for (std::size_t v = 0; v < kVectors; ++v) {
      _mm512_store_si512(tags + from + v * kVector, moved_back<Tag>(old[v].bits, before, moved >> (v * kVector)));
      before = old[v].bits;
    }
    if constexpr (kLanes <= 64) {
      // Not found: depth is the number of lanes.
      return static_cast<std::uint8_t>(std::countr_zero(kLanes == 64 ? same : same | std::uint64_t{1} << kStep));
    } else if (same != 0) {
      return static_cast<std::uint8_t>(from + static_cast<std::size_t>(std::countr_zero(same)));
    }
  }
  return GridDepths::kGone;
}

/// A stack of two vectors, in registers.
template <class Tag>
struct Pair {
  static constexpr std::size_t kVector = 64 / sizeof(Tag);
  __m512i first, second;

  /// The bit of the tag's lane, or none.
  [[nodiscard, gnu::always_inline]] inline std::uint64_t find(__m512i wanted) const {
    return equal<Tag>(first, wanted) | equal<Tag>(second, wanted) << kVector;
  }
  /// The lanes from there to the front.
  [[gnu::always_inline]] inline void move(__m512i wanted, std::uint64_t same) {
    const std::uint64_t moved = same ^ (same - 1);
    second = moved_back<Tag>(second, first, moved >> kVector);
    first = moved_back<Tag>(first, wanted, moved);
  }
};

/// As the portable form. The two vectors of a stack stay in registers, and two lines are searched at a time: passing
/// the stack through memory from one line to the next would dominate the time.
template <std::size_t kLanes, class Tag>
inline void to_front_of_one(Tag* tags, std::span<const GridAccess> accesses, std::uint8_t* depths) {
  std::size_t i = 0;
  if constexpr (kLanes * sizeof(Tag) == 128) {
    constexpr std::uint64_t kNone = kLanes == 64 ? 0 : std::uint64_t{1} << (kLanes % 64);
    const auto depth_of = [](std::uint64_t same) { return static_cast<std::uint8_t>(std::countr_zero(same | kNone)); };
    Pair<Tag> stack{_mm512_load_si512(tags), _mm512_load_si512(tags + Pair<Tag>::kVector)};
    for (; i + 1 < accesses.size(); i += 2) {
      const auto tag = static_cast<Tag>(accesses[i].number);
      const auto next_tag = static_cast<Tag>(accesses[i + 1].number);
      const std::uint64_t same = stack.find(all_of(tag));
      std::uint64_t next = stack.find(all_of(next_tag));
      // The first line moves the second one back by one lane if it was deeper; a missing line is deepest. The last lane
      // falls out.
      next <<= static_cast<unsigned>(next - 1 < same - 1);
      next = kLanes == 64 ? next : next & (kNone - 1);
      next = next_tag == tag ? 1 : next;
      stack.move(all_of(tag), same);
      stack.move(all_of(next_tag), next);
      depths[i] = depth_of(same);
      depths[i + 1] = depth_of(next);
    }
    _mm512_store_si512(tags, stack.first);
    _mm512_store_si512(tags + Pair<Tag>::kVector, stack.second);
  }
  for (; i < accesses.size(); ++i) {
    depths[i] = to_front<kLanes>(tags, static_cast<Tag>(accesses[i].number));
  }
}

#include "sim/memory/caches/lru_grid_stacked_form.hpp"

}  // namespace avx512
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

}  // namespace

GridForm best_grid_form() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2")) {
    return GridForm::Avx512;
  }
#endif
  return GridForm::Portable;
}

std::unique_ptr<GridPass> make_stacked_pass(std::uint64_t sets, std::uint64_t ways, std::uint64_t span,
                                            const GridRules& rules, GridForm form) {
  // A set has at most as many lines as the span; sets that no line maps to are never touched.
  const auto most = static_cast<std::uint32_t>(std::clamp<std::uint64_t>((span + sets - 1) / sets, 1, ways));
  const Size size{.sets = static_cast<std::uint32_t>(sets),
                  .records = static_cast<std::uint32_t>(std::min(sets, span)),
                  .ways = most,
                  .by_number = sets == 1 || (span - 1) / sets >= kShortLines - 1};
#if defined(__x86_64__)
  if (form == GridForm::Avx512) {
    return avx512::make_for(size, rules);
  }
#endif
  return portable::make_for(size, rules);
}

}  // namespace rayreplay::memory
