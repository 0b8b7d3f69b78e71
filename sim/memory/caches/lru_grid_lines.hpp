// Accesses as the passes of lru_grid.hpp want them: what is the same for all numbers of sets is found out once.
//
// Contract: `take` writes as many accesses to `packed` as it returns, no more than there are: those of stores that take
// no line are left out; `mixed` once a line of theirs was also loaded. Lines are numbered from 1 in the order of their
// first accesses. Memory: for each line 16 bytes and as much room again, and with `wide` 64. At most 2^32 - 2 accesses;
// their sectors are below 4, with `wide` below 8.
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
  /// `low`: the least line; all are less than 2^32 - 1 above. `dirty`: stores are written back. `wide`: 8 sectors a
  /// line, not 4.
  GridLines(std::uint64_t low, bool allocate, bool dirty, bool wide)
      : low_(low), allocate_(allocate), dirty_(dirty), wide_(wide) {}

  std::size_t take(std::span<const LineAccess> accesses, GridAccess* packed);
  [[nodiscard]] bool mixed() const {
    return mixed_;
  }
  /// Every number is below.
  [[nodiscard]] std::uint32_t limit() const {
    return static_cast<std::uint32_t>(lines_.size());
  }
  /// By number, less the least line.
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
    /// In what order sectors were touched: an age (sector_ages.hpp); of wide lines those of the last access.
    std::uint8_t touched = 0;
    std::uint8_t stored = 0;  ///< the same of stores
  };

  [[nodiscard]] std::size_t home(std::uint32_t line) const {
    return (line * kSplitMixGamma) >> shift_;
  }
  [[nodiscard]] std::size_t place(std::uint32_t line) const;
  Entry& of(std::uint32_t line);
  void grow();
  template <bool kWide>
  std::size_t take_as(std::span<const LineAccess> accesses, GridAccess* packed);
  /// Of wide lines. `last`: what was touched together the last time; becomes `sectors`.
  [[nodiscard]] SectorAge age_of(std::uint8_t sectors, std::uint8_t& last, std::uint32_t* since) const;

  std::uint64_t low_;
  bool allocate_, dirty_, wide_;
  bool mixed_ = false;
  unsigned shift_ = 64 - kFirstBits;
  std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << kFirstBits);
  std::vector<std::uint32_t> lines_{0};
  std::uint32_t now_ = 0;  ///< accesses
  /// Of wide lines by number and sector: the access to the line that was the first without the sector since it was touched last; 0:
  /// never touched. Not kept while the sector is among those touched last.
  std::vector<std::uint32_t> touched_since_, stored_since_;
};

}  // namespace rayreplay::memory
