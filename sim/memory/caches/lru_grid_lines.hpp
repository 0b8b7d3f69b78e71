// Prepares accesses for the passes of lru_grid.hpp: everything that does not depend on the number of sets.
//
// Contract: `take` writes accesses to `packed` and returns their number. Stores without allocation are left out;
// `mixed` is set once such a line was also loaded. Lines are numbered from 1 in the order of first access. Memory a
// line: 16 bytes and spare room of the same size, 64 with `wide`. At most 2^32 - 2 accesses; sector numbers are below
// 4, with `wide` below 8.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/split_mix.hpp"
#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/caches/lru_grid_pass.hpp"
#include "sim/memory/caches/sector_ages.hpp"

namespace rayreplay::memory {

class GridLines {
 public:
  /// `low`: the smallest line; all others are less than 2^32 - 1 above it. `dirty`: write-back. `wide`: 8 sectors a
  /// line instead of 4.
  GridLines(std::uint64_t low, bool allocate, bool dirty, bool wide)
      : low_(low), allocate_(allocate), dirty_(dirty), wide_(wide) {}

  std::size_t take(std::span<const LineAccess> accesses, GridAccess* packed);
  [[nodiscard]] bool mixed() const {
    return mixed_;
  }
  /// Upper bound of all line numbers.
  [[nodiscard]] std::uint32_t limit() const {
    return static_cast<std::uint32_t>(lines_.size());
  }
  /// By number; minus the smallest line.
  [[nodiscard]] std::span<const std::uint32_t> lines() const {
    return lines_;
  }

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};
  static constexpr unsigned kFirstBits = 12;
  static constexpr std::size_t kWideSectors = 8;

  /// Open addressing, at most half full.
  struct Entry {
    std::uint32_t line = kEmpty;
    std::uint32_t number = 0;
    /// The order of sector touches: an age (sector_ages.hpp); of wide lines the mask of the last access.
    std::uint8_t touched = 0;
    std::uint8_t stored = 0;  ///< the same for stores
  };

  [[nodiscard]] std::size_t home(std::uint32_t line) const {
    return (line * kSplitMixGamma) >> shift_;
  }
  [[nodiscard]] std::size_t place(std::uint32_t line) const;
  Entry& of(std::uint32_t line);
  void grow();
  template <bool kWide>
  std::size_t take_as(std::span<const LineAccess> accesses, GridAccess* packed);
  /// Of wide lines. `last`: the sectors of the last touch; becomes `sectors`.
  [[nodiscard]] SectorAge age_of(std::uint8_t sectors, std::uint8_t& last, std::uint32_t* since) const;

  std::uint64_t low_;
  bool allocate_, dirty_, wide_;
  bool mixed_ = false;
  unsigned shift_ = 64 - kFirstBits;
  std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << kFirstBits);
  std::vector<std::uint32_t> lines_{0};
  std::uint32_t now_ = 0;  ///< accesses
  /// Of wide lines, by number and sector: the first access to the line without the sector since the sector's last
  /// touch; 0: never touched. Not maintained while the sector is in the last touch.
  std::vector<std::uint32_t> touched_since_, stored_since_;
};

}  // namespace rayreplay::memory
