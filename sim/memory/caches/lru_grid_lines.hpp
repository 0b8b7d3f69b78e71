// Accesses as the passes of lru_grid.hpp want them: what is the same for all numbers of sets is found out once.
//
// Contract: `take` writes as many accesses to `packed` as it returns, no more than there are: those of stores that take
// no line are left out; `mixed` once a line of theirs was also loaded. Lines are numbered from 1 in the order of their
// first accesses. Memory: 12 bytes and as much room again for each line.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/split_mix.hpp"
#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/caches/lru_grid_pass.hpp"

namespace rayreplay::memory {

class GridLines {
 public:
  /// `low`: the least line; all are less than 2^32 - 1 above. `dirty`: stores are written back.
  GridLines(std::uint64_t low, bool allocate, bool dirty) : low_(low), allocate_(allocate), dirty_(dirty) {}

  std::size_t take(std::span<const LineAccess> accesses, GridAccess* packed);
  [[nodiscard]] bool mixed() const {
    return mixed_;
  }
  /// Every number is below.
  [[nodiscard]] std::uint32_t limit() const {
    return used_ + 1;
  }

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};
  static constexpr unsigned kFirstBits = 12;

  /// Open addressing, at most half full.
  struct Entry {
    std::uint32_t line = kEmpty;
    std::uint32_t number = 0;
    std::uint8_t touched = 0;  ///< sectors, by the last access
    std::uint8_t stored = 0;   ///< … by the last store
  };

  [[nodiscard]] std::size_t home(std::uint32_t line) const {
    return (line * kSplitMixGamma) >> shift_;
  }
  [[nodiscard]] std::size_t place(std::uint32_t line) const;
  Entry& of(std::uint32_t line);
  void grow();

  std::uint64_t low_;
  bool allocate_, dirty_;
  bool mixed_ = false;
  unsigned shift_ = 64 - kFirstBits;
  std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << kFirstBits);
  std::uint32_t used_ = 0;
};

}  // namespace rayreplay::memory
