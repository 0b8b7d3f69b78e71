// Depths of lines' sectors, a byte each, all of a line at once: what a pass of lru_grid.hpp remembers and counts.
//
// Contract: byte s of a line's sectors is the greatest depth at which the line was found since sector s was touched
// last, of its dirty ones since it was stored to last; 255: never. The greatest depth m between a store and the next
// to the sector, or the end, says all of what is written back meanwhile: it is once, with m ways or less. Sectors that
// were touched together the last time have one depth, the line's, whatever the sets: such accesses count in one step.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "sim/memory/caches/lru_grid_pass.hpp"

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

/// Of lines of 4 sectors; kWide: of 8.
template <bool kWide, bool kDirty>
class SectorDepths {
 public:
  static constexpr std::size_t kTogether = 64;

  /// Lines below are asked for.
  void reserve(std::uint32_t lines) {
    if (lines > lines_.size()) {
      lines_.resize(lines);
    }
  }

  void prefetch(std::span<const GridAccess> accesses) const {
    constexpr std::size_t kNearBytes = std::size_t{1} << 15U;
    if (lines_.size() * sizeof(Line) > kNearBytes) {
      for (const GridAccess& access : accesses) {
        __builtin_prefetch(&lines_[access.number], 1);
      }
    }
  }

  /// Up to kTogether accesses, and the depths that their lines were found at. Those that changed something go to
  /// `left`, where there is one: as many as it returns.
  std::size_t touch(std::span<const GridAccess> accesses, std::span<const std::uint8_t> depths, GridAccess* left) {
    // No branches on the data: what they depend on is hard to foresee. What is seldom goes to lists.
    std::array<std::uint64_t, kTogether> sectors_then;
    std::array<std::uint64_t, kWide && kDirty ? kTogether : 1> dirty_then;
    std::array<std::uint8_t, kTogether> odd;
    std::array<std::uint8_t, kTogether> stored_to;
    std::size_t odds = 0;
    std::size_t stores = 0;
    std::size_t kept = 0;
    Line* const lines = lines_.data();
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const GridAccess& access = accesses[i];
      Line& line = lines[access.number];
      const std::uint64_t sectors = kSectorBytes[access.sectors];
      const std::uint64_t stored = kDirty ? sectors & -std::uint64_t{access.store} : 0;
      // A line of 4 sectors has its dirty ones behind the others.
      const std::uint64_t touched = kWide ? sectors : sectors | stored << 32U;
      const std::uint64_t now = deepened(line.sectors, depths[i]);
      line.sectors = now & ~touched;
      std::uint64_t changed = now & touched;
      sectors_then[i] = now;
      if constexpr (kWide && kDirty) {
        const std::uint64_t dirty = deepened(line.dirty, depths[i]);
        line.dirty = dirty & ~stored;
        changed |= dirty & stored;
        dirty_then[i] = dirty;
      }
      ++together_[access.row][depths[i]];
      odd[odds] = static_cast<std::uint8_t>(i);
      odds += static_cast<std::size_t>(access.row == GridAccess::kOdd);
      if constexpr (kDirty) {
        stored_to[stores] = static_cast<std::uint8_t>(i);
        stores += static_cast<std::size_t>(access.stored_row != 0);
      }
      if (left != nullptr) {
        left[kept] = access;
        kept += static_cast<std::size_t>(changed != 0);
      }
    }
    const auto dirty_of = [&](std::size_t i) { return kWide && kDirty ? dirty_then[i] : sectors_then[i] >> 32U; };
    for (std::size_t k = 0; k < stores; ++k) {
      const GridAccess& access = accesses[stored_to[k]];
      const auto first = static_cast<std::size_t>(std::countr_zero(std::uint32_t{access.sectors}));
      ++stored_[access.stored_row][byte_of(dirty_of(stored_to[k]), first)];
    }
    for (std::size_t k = 0; k < odds; ++k) {
      count_each(accesses[odd[k]], depths[odd[k]], sectors_then[odd[k]], dirty_of(odd[k]));
    }
    return kept;
  }

  /// `depth_of`: of each line, at the end.
  [[nodiscard]] GridDepths finish(std::span<const std::uint8_t> depth_of) {
    GridDepths all = each_;
    for (std::size_t depth = 0; depth < all.found.size(); ++depth) {
      for (std::size_t row = 0; row < GridAccess::kOdd; ++row) {
        all.found[depth] += together_[row][depth];
        all.whole[depth] += together_[row][depth];
        all.filled[depth] += row * together_[row][depth];
        all.written[depth] += row * stored_[row][depth];
      }
    }
    if constexpr (kDirty) {
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        const std::uint64_t dirty = deepened(dirty_sectors(lines_[i]), depth_of[i]);
        for (std::size_t s = 0; s < kSectors; ++s) {
          ++all.written[byte_of(dirty, s)];
        }
      }
      // Each sector's time before its first store, or all of it if there is none, counted as never.
      all.written[GridDepths::kGone] -= lines_.size() * kSectors;
    }
    return all;
  }

 private:
  static constexpr std::size_t kSectors = kWide ? 8 : 4;
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

  void count_each(const GridAccess& access, std::uint8_t depth, std::uint64_t now, std::uint64_t dirty) {
    ++each_.found[depth];
    std::uint8_t worst = 0;
    for (std::size_t s = 0; s < kSectors; ++s) {
      const auto touched = static_cast<std::uint8_t>(access.sectors >> s & 1U);
      const auto one = static_cast<std::uint8_t>(byte_of(now, s) & -touched);
      each_.filled[one] += touched & (1U - access.store);
      worst = std::max(worst, one);
      if constexpr (kDirty) {
        each_.written[byte_of(dirty, s)] += touched & access.store;
      }
    }
    ++each_.whole[worst];
  }

  std::vector<Line> lines_;
  std::array<GridDepths::ByDepth, GridAccess::kOdd + 1> together_{};  ///< the last: nothing
  std::array<GridDepths::ByDepth, 9> stored_{};                       ///< the first: nothing
  GridDepths each_;
};

}  // namespace rayreplay::memory
