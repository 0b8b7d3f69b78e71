// Curves: bijections whose shape is known.
#include "scheduler-models/space_filling.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace rayreplay::scheduler {
namespace {

std::uint64_t interleaved(const std::vector<std::uint32_t>& axes, int bits) {
  std::uint64_t code = 0;
  for (int bit = 0; bit < bits; ++bit) {
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      code |= std::uint64_t{axes[axis] >> bit & 1} << (static_cast<std::size_t>(bit) * axes.size() + axis);
    }
  }
  return code;
}

TEST(Morton, InterleavesBitByBit) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const auto x = static_cast<std::uint32_t>(random());
    const auto y = static_cast<std::uint32_t>(random());
    const auto z = static_cast<std::uint32_t>(random());
    EXPECT_EQ(morton2(x, y), interleaved({x, y}, 32));
    constexpr std::uint32_t kMask = 0x1F'FFFF;
    EXPECT_EQ(morton3(x & kMask, y & kMask, z & kMask), interleaved({x, y, z}, 21));
    constexpr std::uint32_t kMask5 = 0xFFF;
    const std::array<std::uint32_t, 5> five{x & kMask5, y & kMask5, z & kMask5, x >> 20, y >> 20};
    EXPECT_EQ(morton5(five, 12), interleaved({five.begin(), five.end()}, 12));
  }
}

TEST(Hilbert, ConsecutiveCellsOfTheSquareShareASide) {
  for (const int bits : {1, 2, 5}) {
    const std::uint32_t side = 1U << bits;
    std::map<std::uint64_t, std::pair<int, int>> cell;
    for (std::uint32_t y = 0; y < side; ++y) {
      for (std::uint32_t x = 0; x < side; ++x) {
        cell[hilbert2(x, y, bits)] = {static_cast<int>(x), static_cast<int>(y)};
      }
    }
    ASSERT_EQ(cell.size(), std::size_t{side} * side);
    EXPECT_EQ(cell.rbegin()->first, std::uint64_t{side} * side - 1);
    EXPECT_EQ(cell.begin()->second, (std::pair{0, 0}));
    for (auto next = std::next(cell.begin()); next != cell.end(); ++next) {
      const auto before = std::prev(next)->second;
      EXPECT_EQ(std::abs(next->second.first - before.first) + std::abs(next->second.second - before.second), 1);
    }
  }
}

TEST(Hilbert, ConsecutiveCellsOfTheCubeShareASide) {
  for (const int bits : {1, 2, 4}) {
    const std::uint32_t side = 1U << bits;
    std::map<std::uint64_t, std::tuple<int, int, int>> cell;
    for (std::uint32_t z = 0; z < side; ++z) {
      for (std::uint32_t y = 0; y < side; ++y) {
        for (std::uint32_t x = 0; x < side; ++x) {
          cell[hilbert3(x, y, z, bits)] = {static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)};
        }
      }
    }
    ASSERT_EQ(cell.size(), std::size_t{side} * side * side);
    EXPECT_EQ(cell.rbegin()->first, std::uint64_t{side} * side * side - 1);
    for (auto next = std::next(cell.begin()); next != cell.end(); ++next) {
      const auto [x0, y0, z0] = std::prev(next)->second;
      const auto [x1, y1, z1] = next->second;
      EXPECT_EQ(std::abs(x1 - x0) + std::abs(y1 - y0) + std::abs(z1 - z0), 1);
    }
  }
}

TEST(Hilbert, TakesAllTheBitsThereAre) {
  EXPECT_EQ(hilbert2(0, 0, 31), 0U);
  constexpr std::uint32_t kLast = (1U << 31) - 1;
  EXPECT_EQ(hilbert2(kLast, 0, 31), (std::uint64_t{1} << 62) - 1);
  EXPECT_LT(hilbert3(0x1F'FFFF, 0x1F'FFFF, 0x1F'FFFF, 21), std::uint64_t{1} << 63);
}

}  // namespace
}  // namespace rayreplay::scheduler
