// Sums merge to the same bits under any partition, in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/split_mix.hpp"
#include "sim/memory/results/sums.hpp"

namespace rayreplay::memory {
namespace {

WindowSums one_access(std::uint64_t i) {
  WindowSums window;
  window.first_request = i;
  window.requests = 1;
  window.first_cycle = window.last_cycle = 3 * i + 5;
  const std::uint64_t bits = split_mix(1, i);
  LevelSums& sums = window.levels[bits % 2][bits / 2 % kDataKinds];
  sums.accesses = 1;
  sums.hits = bits % kOne;
  sums.stores = bits >> 40U & 1U;
  sums.sectors = 1 + (bits >> 41U & 3U);
  sums.cold = bits >> 43U & 7U;
  sums.capacity = bits >> 46U & 7U;
  sums.conflict = bits >> 49U & 7U;
  sums.beyond = bits >> 52U & 7U;
  sums.sector_misses = bits >> 55U & 1U;
  sums.stored_only = bits >> 57U & 7U;
  sums.new_sectors = bits >> 60U & 7U;
  sums.load_sectors = bits >> 20U & 7U;
  sums.filled = bits >> 10U & 0xFFFFU;
  sums.written = bits >> 30U & 15U;
  window.sms.resize(1 + bits % 5);
  window.sms.back()[bits % 2] = sums;
  window.dram_read_bytes = bits >> 56U;
  window.dram_write_bytes = bits >> 58U;
  return window;
}

bool same(const WindowSums& a, const WindowSums& b) {
  return a.first_request == b.first_request && a.requests == b.requests && a.first_cycle == b.first_cycle &&
         a.last_cycle == b.last_cycle && a.levels == b.levels && a.sms == b.sms &&
         a.dram_read_bytes == b.dram_read_bytes && a.dram_write_bytes == b.dram_write_bytes;
}

TEST(Sums, MergeExactlyUnderAnyPartition) {
  constexpr std::size_t kCount = 600;
  std::vector<std::size_t> order(kCount);
  std::iota(order.begin(), order.end(), 0);
  WindowSums expected;
  for (const std::size_t i : order) {
    expected.merge(one_access(i));
  }
  EXPECT_EQ(expected.requests, kCount);
  EXPECT_EQ(expected.first_cycle, 5U);
  EXPECT_EQ(expected.last_cycle, 3 * (kCount - 1) + 5);
  for (std::uint64_t round = 0; round < 20; ++round) {
    for (std::size_t i = kCount; i > 1; --i) {
      std::swap(order[i - 1], order[split_mix(round, i) % i]);
    }
    std::vector<WindowSums> parts(1 + round);
    for (const std::size_t i : order) {
      parts[split_mix(round + 100, i) % parts.size()].merge(one_access(i));
    }
    WindowSums total;
    for (const WindowSums& part : parts) {
      total.merge(part);
      total.merge({});
    }
    ASSERT_TRUE(same(total, expected)) << round;
  }
}

TEST(Sums, RequestsKeepTheirFirstAndLastOrder) {
  RequestSums sums;
  for (const std::uint64_t order : {7U, 3U, 9U}) {
    sums.merge({1, kOne, 2 * kOne, 3, order, order});
  }
  sums.merge({});
  EXPECT_EQ(sums, (RequestSums{3, 3ULL * kOne, 6ULL * kOne, 9, 3, 9}));
}

// 2^34 accesses of all that an access can add, one more would be too many.
TEST(Sums, DoNotOverflowBelowTheirLimit) {
  constexpr std::uint64_t kMax = (std::uint64_t{1} << 34U) - 1;
  static_assert(kMax * kOne / kOne == kMax);
  static_assert(kMax * 8 * kOneSector / kOneSector == kMax * 8);
  LevelSums half;
  half.accesses = kMax / 2 + 1;
  half.hits = half.accesses * kOne;
  half.load_sectors = 8 * half.accesses;
  half.filled = half.load_sectors * kOneSector;
  LevelSums most;
  most.accesses = kMax / 2;
  most.hits = most.accesses * kOne;
  most.load_sectors = 8 * most.accesses;
  most.filled = most.load_sectors * kOneSector;
  most.merge(half);
  EXPECT_EQ(most.accesses, kMax);
  EXPECT_EQ(most.hit_rate(), 1);
  EXPECT_EQ(most.filled / kOneSector, most.load_sectors);
}

TEST(Sums, RateOfNothingIsNothing) {
  EXPECT_EQ(LevelSums{}.hit_rate(), 0);
  LevelSums sums;
  sums.accesses = 4;
  sums.hits = 3ULL * kOne;
  EXPECT_EQ(sums.hit_rate(), 0.75);
}

}  // namespace
}  // namespace rayreplay::memory
