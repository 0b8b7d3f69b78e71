// The order of sector touches of a line with 4 sectors, in one byte; a table finds the oldest of some sectors.
//
// Contract: age 0: no sector was touched. `kSectorAges[age][sectors]` describes an access to these sectors: the sector
// with the earliest last touch (or never touched; the lowest of several), their number if all have the same last touch,
// and the age after the access. Two sectors have the same age if one access touched both last, or if neither was ever
// touched. An empty mask changes nothing.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace rayreplay::memory {

struct SectorAge {
  std::uint8_t next = 0;
  std::uint8_t oldest = 0;
  std::uint8_t count = 0;  ///< 0: different ages
  std::uint8_t each = 0;   ///< 1: different ages
};

/// Four 4-bit ranks: the number of later touches of other sectors, as far as the order defines it; kNever.
class SectorRanks {
 public:
  static constexpr unsigned kSectors = 4;
  static constexpr unsigned kNever = kSectors;

  [[nodiscard]] constexpr unsigned of(unsigned sector) const {
    return ranks_ >> (4 * sector) & 15U;
  }
  [[nodiscard]] constexpr SectorRanks touched(unsigned sectors) const {
    SectorRanks after;
    after.ranks_ = 0;
    for (unsigned s = 0; s < kSectors; ++s) {
      unsigned rank = 0;
      if ((sectors >> s & 1U) == 0) {
        // Ranks stay dense: one for the access, and one for each remaining older rank.
        rank = of(s) == kNever ? kNever : 1;
        for (unsigned lower = 0; lower < of(s) && rank != kNever; ++lower) {
          rank += kept(lower, sectors) ? 1U : 0U;
        }
      }
      after.ranks_ |= rank << (4 * s);
    }
    return after;
  }
  [[nodiscard]] constexpr SectorAge age(unsigned sectors) const {
    SectorAge age;
    bool any = false;
    for (unsigned s = 0; s < kSectors; ++s) {
      if ((sectors >> s & 1U) == 0) {
        continue;
      }
      age.each |= static_cast<std::uint8_t>(any && of(s) != of(age.oldest));
      age.oldest = static_cast<std::uint8_t>(!any || of(s) > of(age.oldest) ? s : age.oldest);
      any = true;
    }
    age.count = static_cast<std::uint8_t>(age.each != 0 ? 0 : std::popcount(sectors));
    return age;
  }
  constexpr bool operator==(const SectorRanks&) const = default;

 private:
  [[nodiscard]] constexpr bool kept(unsigned rank, unsigned sectors) const {
    for (unsigned s = 0; s < kSectors; ++s) {
      if (of(s) == rank && (sectors >> s & 1U) == 0) {
        return true;
      }
    }
    return false;
  }

  unsigned ranks_ = 0x4444;
};

/// Orders of four sectors, some of them never touched: 75 + 4 * 13 + 6 * 3 + 4 + 1.
inline constexpr std::size_t kSectorOrders = 150;

inline constexpr auto kSectorAges = [] {
  std::array<std::array<SectorAge, 16>, kSectorOrders> ages{};
  std::array<SectorRanks, kSectorOrders> known{};
  std::size_t size = 1;
  for (std::size_t i = 0; i < size; ++i) {
    for (unsigned sectors = 0; sectors < 16; ++sectors) {
      const SectorRanks after = sectors == 0 ? known[i] : known[i].touched(sectors);
      std::size_t next = 0;
      while (next < size && known[next] != after) {
        ++next;
      }
      if (next == size) {
        known[size++] = after;
      }
      ages[i][sectors] = known[i].age(sectors);
      ages[i][sectors].next = static_cast<std::uint8_t>(next);
    }
  }
  return ages;
}();

}  // namespace rayreplay::memory
