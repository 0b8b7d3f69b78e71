// Depths of lines' sectors, one byte each, processed a whole line at once: state and counts of a pass of lru_grid.hpp.
//
// Contract: byte s is the greatest depth at which the line was found since sector s was last touched (for dirty
// sectors: last stored to); 255: never. The greatest depth m between a store and the sector's next store, or the end,
// is one writeback in caches of at most m ways.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "sim/memory/caches/lru_grid_pass.hpp"

namespace rayreplay::memory {

/// 255 in the bytes of the mask's sectors.
inline constexpr std::array<std::uint64_t, 256> kSectorBytes = [] {
  std::array<std::uint64_t, 256> bytes{};
  for (std::size_t mask = 0; mask < 256; ++mask) {
    for (std::size_t s = 0; s < 8; ++s) {
      bytes[mask] |= (mask >> s & 1U) != 0 ? std::uint64_t{255} << (8 * s) : 0;
    }
  }
  return bytes;
}();

/// Bytewise maximum with `depth`.
[[nodiscard]] inline std::uint64_t deepened(std::uint64_t word, std::uint8_t depth) {
#if defined(__SSE2__)
  const __m128i all =
      _mm_max_epu8(_mm_cvtsi64_si128(static_cast<long long>(word)), _mm_set1_epi8(static_cast<char>(depth)));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(all));
#else
  std::uint64_t result = 0;
  for (std::size_t s = 0; s < sizeof(word); ++s) {
    result |= std::uint64_t{std::max(static_cast<std::uint8_t>(word >> (8 * s)), depth)} << (8 * s);
  }
  return result;
#endif
}

/// kWide: 8 sectors a line, else 4.
template <bool kWide, bool kDirty>
class SectorDepths {
 public:
  /// Grows the tables to this number of lines.
  void reserve(std::uint32_t lines) {
    if (lines > lines_.size()) {
      lines_.resize(lines);
    }
  }

  [[nodiscard]] bool small() const {
    constexpr std::size_t kNearBytes = std::size_t{1} << 15U;
    return lines_.size() * sizeof(Line) <= kNearBytes;
  }
  void prefetch(const GridAccess& access) const {
    __builtin_prefetch(&lines_[access.number], 1);
  }

  static constexpr std::size_t kTogether = 64;

  /// Up to kTogether accesses, with the depths of their lines. With kLeave, accesses that changed state go to `left`;
  /// returns their number.
  template <bool kLeave>
  [[gnu::always_inline]] inline std::size_t touch(std::span<const GridAccess> accesses, const std::uint8_t* depths,
                                                  GridAccess* left) {
    // No data-dependent branches, because they would be unpredictable. Rare cases go to lists.
    std::array<std::uint64_t, kTogether> each_depths;
    std::array<std::uint8_t, kTogether> each_of;
    std::size_t eaches = 0;
    std::size_t kept = 0;
    Line* const lines = lines_.data();
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const GridAccess& access = accesses[i];
      const std::uint8_t depth = depths[i];
      Line& line = lines[access.number];
      const std::uint64_t touched = kSectorBytes[access.touched];
      const std::uint64_t now = deepened(line.sectors, depth);
      line.sectors = now & ~touched;
      std::uint64_t changed = now & touched;
      std::uint64_t dirty = now >> 32U;
      if constexpr (kDirty && kWide) {
        const std::uint64_t stored = kSectorBytes[access.stored];
        dirty = deepened(line.dirty, depth);
        line.dirty = dirty & ~stored;
        changed |= dirty & stored;
      }
      ++found_[depth];
      whole_filled_[(now >> access.oldest_bits) & 255U] += 1 + (std::uint64_t{access.filled} << kFilledShift);
      if constexpr (kDirty) {
        written_[(dirty >> access.oldest_store_bits) & 255U] += access.written;
      }
      each_depths[eaches] = kDirty && kWide && access.stored != 0 ? dirty : now;
      each_of[eaches] = static_cast<std::uint8_t>(i);
      eaches += static_cast<std::size_t>(access.each != 0);
      if constexpr (kLeave) {
        left[kept] = access;
        kept += static_cast<std::size_t>(changed != 0);
      }
    }
    for (std::size_t k = 0; k < eaches; ++k) {
      const GridAccess& access = accesses[each_of[k]];
      GridDepths::ByDepth& counts = access.stored != 0 ? written_ : filled_;
      const std::size_t behind = kWide || access.stored == 0 ? 0 : kSectors;
      for (std::size_t s = 0; s < kSectors; ++s) {
        counts[byte_of(each_depths[k], s + behind)] += access.each >> s & 1U;
      }
    }
    return kept;
  }

  /// Must be called at least once in kMaxTouches accesses.
  void settle() {
    for (std::size_t depth = 0; depth < whole_filled_.size(); ++depth) {
      const std::uint64_t both = std::exchange(whole_filled_[depth], 0);
      whole_[depth] += both & ((std::uint64_t{1} << kFilledShift) - 1);
      filled_[depth] += both >> kFilledShift;
    }
  }
  static constexpr std::size_t kMaxTouches = std::size_t{1} << 28U;

  /// `depth_of`: final depth of each line; only used for write-back stores.
  [[nodiscard]] GridDepths finish(std::span<const std::uint8_t> depth_of) {
    settle();
    GridDepths all{.found = found_, .whole = whole_, .filled = filled_, .written = written_};
    if constexpr (kDirty) {
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        const std::uint64_t dirty = deepened(dirty_sectors(lines_[i]), depth_of[i]);
        for (std::size_t s = 0; s < kSectors; ++s) {
          ++all.written[byte_of(dirty, s)];
        }
      }
      // The time of a sector before its first store does not count.
      all.written[GridDepths::kGone] -= lines_.size() * kSectors;
    }
    return all;
  }

 private:
  static constexpr std::size_t kSectors = kWide ? 8 : 4;
  static constexpr unsigned kFilledShift = 32;
  struct Narrow {
    std::uint64_t sectors = ~std::uint64_t{0};
  };
  struct Wide {
    std::uint64_t sectors = ~std::uint64_t{0};
    std::uint64_t dirty = ~std::uint64_t{0};
  };
  using Line = std::conditional_t<kWide && kDirty, Wide, Narrow>;

  static std::uint64_t dirty_sectors(const Line& line) {
    if constexpr (kWide && kDirty) {
      return line.dirty;
    } else {
      return line.sectors >> 32U;
    }
  }

  static std::uint8_t byte_of(std::uint64_t word, std::size_t sector) {
    return static_cast<std::uint8_t>(word >> (8 * sector));
  }

  std::vector<Line> lines_;
  GridDepths::ByDepth found_{};
  GridDepths::ByDepth
      whole_filled_{};  ///< two counters in one word: accesses, and sectors of loads from bit kFilledShift on
  GridDepths::ByDepth whole_{};
  GridDepths::ByDepth filled_{};
  GridDepths::ByDepth written_{};
};

}  // namespace rayreplay::memory
