// Fast counters of cache accesses: a row of four numbers is updated per access; sums are computed at the end.
//
// Contract: rows are the classes of misses (miss_classes.hpp), loads and stores apart. `add_to` adds the tally to a
// LevelSums. The traffic of exact models is not included, because it is not counted per access.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/memory/results/miss_classes.hpp"
#include "sim/memory/results/sums.hpp"

namespace rayreplay::memory {

class Tally {
 public:
  struct Access {
    MissClass miss = MissClass::Unknown;
    bool store = false;
    std::uint64_t hit = 0;  ///< fixed point
    std::uint64_t sectors = 0;
    std::uint64_t sector_misses = 0;  ///< 0 or 1
  };

  void add(const Access& access) {
    Row& row = rows_[static_cast<std::size_t>(access.miss) * 2 + static_cast<std::size_t>(access.store)];
    ++row.accesses;
    row.hits += access.hit;
    row.sectors += access.sectors;
    row.sector_misses += access.sector_misses;
  }
  /// For models with probabilities: what a load fetches, in the unit of LevelSums::filled.
  void add_filled(std::uint64_t filled) {
    filled_ += filled;
  }

  void add_to(LevelSums& sums, bool exact) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      const bool store = i % 2 != 0;
      sums.accesses += row.accesses;
      sums.hits += row.hits;
      sums.stores += store ? row.accesses : 0;
      sums.sectors += row.sectors;
      sums.load_sectors += store ? 0 : row.sectors;
      sums.written += store && !exact ? row.sectors : 0;
      sums.sector_misses += row.sector_misses;
      const std::uint64_t missed = row.accesses * kOne - row.hits;
      switch (static_cast<MissClass>(i / 2)) {
        case MissClass::Unknown:
          break;
        case MissClass::Cold:
          sums.cold += missed;
          break;
        case MissClass::StoredOnly:
          sums.stored_only += missed;
          break;
        case MissClass::NewSectors:
          sums.new_sectors += missed;
          break;
        case MissClass::Capacity:
          sums.capacity += missed;
          sums.beyond += row.hits;
          break;
        case MissClass::Conflict:
          sums.conflict += missed;
          break;
      }
    }
    sums.filled += filled_;
  }

 private:
  struct Row {
    std::uint64_t accesses = 0, hits = 0, sectors = 0, sector_misses = 0;
  };
  std::array<Row, 2 * kMissClasses> rows_{};  ///< by MissClass; loads, then stores
  std::uint64_t filled_ = 0;
};

}  // namespace rayreplay::memory
