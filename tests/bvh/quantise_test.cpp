// Rounding outward: the grid of quantised nodes, and half precision, against searches through all that there is.
#include <gtest/gtest.h>

#include "bvh/layouts/grid.hpp"
#include "bvh/layouts/half.hpp"
#include "tests/support/random_tree.hpp"

namespace rayreplay::bvh {
namespace {

using test::BoxKind;

TEST(Grid, PlanesAreTheTightestOfAll) {
  for (const BoxKind kind : test::kBoxKinds) {
    test::Random random(11);
    for (int round = 0; round < 400; ++round) {
      const Box outer = test::random_box(random, kind);
      const Grid grid = Grid::fit(outer);
      for (unsigned axis = 0; axis < 3; ++axis) {
        ASSERT_EQ(grid.at(axis, 0), outer.low[axis]);
        ASSERT_GE(grid.at(axis, 255), outer.high[axis]);
        // Somewhere inside, and both ends.
        const float inside = std::clamp(test::random_coordinate(random, kind), outer.low[axis], outer.high[axis]);
        for (const float coordinate : {outer.low[axis], inside, outer.high[axis]}) {
          int below = 0;
          int above = 255;
          for (int plane = 0; plane < 256; ++plane) {
            if (plane > 0) {
              ASSERT_GE(grid.at(axis, plane), grid.at(axis, plane - 1)) << "planes must ascend";
            }
            const float position = grid.at(axis, plane);
            below = position <= coordinate && position > grid.at(axis, below) ? plane : below;
            above = grid.at(axis, 255 - plane) >= coordinate ? 255 - plane : above;
          }
          ASSERT_EQ(grid.below(axis, coordinate), below) << test::to_string(kind) << ' ' << coordinate;
          ASSERT_EQ(grid.above(axis, coordinate), above) << test::to_string(kind) << ' ' << coordinate;
          ASSERT_LE(below, above);
        }
      }
    }
  }
}

TEST(Grid, AxesWithoutExtentAreExact) {
  test::Random random(3);
  for (int round = 0; round < 1000; ++round) {
    const Box point = test::random_box(random, BoxKind::Points);
    const Grid grid = Grid::fit(point);
    EXPECT_EQ(grid.exponent, (std::array<std::uint8_t, 3>{0, 0, 0}));
    for (unsigned axis = 0; axis < 3; ++axis) {
      EXPECT_EQ(grid.at(axis, grid.below(axis, point.low[axis])), point.low[axis]);
      EXPECT_EQ(grid.at(axis, grid.above(axis, point.high[axis])), point.high[axis]);
    }
  }
}

TEST(Grid, ByHand) {
  // 255 steps of 1/64 would reach 3.98; 4 needs steps of 1/32.
  const Grid grid = Grid::fit({.low = {0, -2, 0}, .high = {3.984375F, 2, 0}});
  EXPECT_EQ(grid.exponent, (std::array<std::uint8_t, 3>{127 - 6, 127 - 5, 0}));
  EXPECT_EQ(grid_step(127 - 5), 0.03125F);
  EXPECT_EQ(grid.below(0, 1.02F), 65);
  EXPECT_EQ(grid.above(0, 1.02F), 66);
  EXPECT_EQ(grid.below(1, 0), 64);
  EXPECT_EQ(grid.above(1, 0), 64);
}

TEST(Grid, InfiniteSidesOfInstancesDoNotBreakIt) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Grid grid = Grid::fit({.low = {-kInfinity, 0, 5}, .high = {kInfinity, kInfinity, 6}});
  EXPECT_EQ(grid.at(0, grid.below(0, -kInfinity)), std::numeric_limits<float>::lowest());
  EXPECT_EQ(grid.at(0, grid.above(0, kInfinity)), kInfinity);
  EXPECT_EQ(grid.at(1, grid.below(1, 0)), 0);
  EXPECT_EQ(grid.at(1, grid.above(1, kInfinity)), kInfinity);
}

float half_value(std::uint32_t half) {
  return from_half(static_cast<std::uint16_t>(half));
}

TEST(Half, EveryOneGoesThereAndBack) {
  for (std::uint32_t half = 0; half < 0x1'0000U; ++half) {
    const std::uint32_t magnitude = half & 0x7FFFU;
    const double sign = half < 0x8000U ? 1 : -1;
    if (magnitude > kHalfInfinity) {
      EXPECT_TRUE(std::isnan(half_value(half)));
      continue;
    }
    const auto exponent = static_cast<int>(magnitude >> 10U);
    const double fraction = magnitude & 0x3FFU;
    const double expected = magnitude == kHalfInfinity ? std::numeric_limits<double>::infinity()
                            : exponent == 0            ? std::ldexp(fraction, -24)
                                                       : std::ldexp(1024 + fraction, exponent - 25);
    ASSERT_EQ(static_cast<double>(half_value(half)), sign * expected);
    const bool negative_zero = half == 0x8000U;
    EXPECT_EQ(half_below(half_value(half)), negative_zero ? 0 : half);
    EXPECT_EQ(half_above(half_value(half)), negative_zero ? 0 : half);
  }
}

/// The half right above a finite or −infinite one, +0 for both zeros.
std::uint32_t next_half(std::uint32_t half) {
  return half == 0x8001U ? 0 : half > 0x8000U ? half - 1 : half + 1;
}

void expect_tight(float value) {
  const std::uint32_t below = half_below(value);
  const std::uint32_t above = half_above(value);
  ASSERT_LE(half_value(below), value);
  ASSERT_GE(half_value(above), value);
  if (below == above) {
    ASSERT_EQ(half_value(below), value);
  } else {
    ASSERT_EQ(next_half(below), above) << value << " is not between neighbours";
  }
}

TEST(Half, RoundsToTheNeighbours) {
  test::Random random(17);
  for (int round = 0; round < 200'000; ++round) {
    ASSERT_NO_FATAL_FAILURE(expect_tight(test::random_float(random)));
    ASSERT_NO_FATAL_FAILURE(expect_tight(random.unit() * 70000));
    ASSERT_NO_FATAL_FAILURE(expect_tight(random.unit() * 1e-4F));
    ASSERT_NO_FATAL_FAILURE(expect_tight(random.unit() * 1e-7F));
  }
  for (std::uint32_t half = 0; half < kHalfInfinity; ++half) {
    ASSERT_NO_FATAL_FAILURE(expect_tight(std::nextafter(half_value(half), 1e9F)));
    ASSERT_NO_FATAL_FAILURE(expect_tight(std::nextafter(half_value(half), -1e9F)));
    ASSERT_NO_FATAL_FAILURE(expect_tight(-std::nextafter(half_value(half), 1e9F)));
  }
}

TEST(Half, BeyondItsRangeOutwardIsInfinite) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(half_below(kLargest), kHalfLargest);
  EXPECT_EQ(half_above(kLargest), kHalfInfinity);
  EXPECT_EQ(half_below(-kLargest), kHalfSign | kHalfInfinity);
  EXPECT_EQ(half_above(-kLargest), kHalfSign | kHalfLargest);
  EXPECT_EQ(half_above(65504.0F), kHalfLargest);
  EXPECT_EQ(half_above(65504.01F), kHalfInfinity);
  EXPECT_EQ(half_below(kInfinity), kHalfInfinity);
  EXPECT_EQ(half_above(-kInfinity), kHalfSign | kHalfInfinity);
}

}  // namespace
}  // namespace rayreplay::bvh
