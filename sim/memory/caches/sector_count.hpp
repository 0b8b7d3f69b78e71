// Number of sectors in a mask.
//
// Contract: any 8-bit mask. O(1): a table, because baseline x86-64 has no population count.
#pragma once

#include <array>
#include <cstdint>

namespace rayreplay::memory {

inline constexpr std::array<std::uint8_t, 256> kSectorCounts = [] {
  std::array<std::uint8_t, 256> counts{};
  for (std::size_t i = 1; i < counts.size(); ++i) {
    counts[i] = static_cast<std::uint8_t>(counts[i / 2] + i % 2);
  }
  return counts;
}();

[[nodiscard]] inline std::uint64_t sector_count(std::uint8_t mask) {
  return kSectorCounts[mask];
}

}  // namespace rayreplay::memory
