// Ages of sectors from the table against the times of their last accesses.
#include "sim/memory/caches/sector_ages.hpp"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "base/split_mix.hpp"

namespace rayreplay::memory {
namespace {

TEST(SectorAges, AreThoseOfTheTimesOfTheLastAccesses) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::array<std::uint64_t, 4> last{};
    std::uint8_t age = 0;
    for (std::uint64_t now = 1; now <= 400; ++now) {
      const auto sectors = static_cast<unsigned>(split_mix(seed, now) % 16);
      const SectorAge& found = kSectorAges[age][sectors];
      std::uint64_t least = ~std::uint64_t{0};
      std::uint64_t most = 0;
      unsigned oldest = 0;
      std::uint8_t count = 0;
      for (unsigned s = 0; s < 4; ++s) {
        if ((sectors >> s & 1U) != 0) {
          oldest = last[s] < least ? s : oldest;
          least = std::min(least, last[s]);
          most = std::max(most, last[s]);
          last[s] = now;
          ++count;
        }
      }
      const bool each = count != 0 && least != most;
      ASSERT_EQ(found.oldest, oldest);
      ASSERT_EQ(found.each, each ? 1 : 0);
      ASSERT_EQ(found.count, each ? 0 : count);
      ASSERT_LT(found.next, kSectorOrders);
      age = found.next;
    }
  }
}

}  // namespace
}  // namespace rayreplay::memory
