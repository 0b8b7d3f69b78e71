// The bytes of every layout, by hand, and what rays make of them: unused slots are never met, true boxes always are.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "bvh/geometry/box_ray.hpp"
#include "bvh/layouts/binary.hpp"
#include "bvh/layouts/compressed_wide_8.hpp"
#include "bvh/layouts/half_4.hpp"
#include "bvh/layouts/quantised_6.hpp"
#include "bvh/layouts/wide.hpp"
#include "tests/bvh/record_values.hpp"
#include "tests/support/random_tree.hpp"

namespace rayreplay::bvh {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A root with a node of one leaf and a leaf of two references.
Tree small_tree() {
  const Box node{.low = {0, 0, 0}, .high = {4, 2, 1}};
  const Box leaf{.low = {-1, -2, -3}, .high = {0, 1, 3.96875F}};
  Box both = node;
  both.extend(leaf);
  return {.nodes = {{0, 2}, {2, 1}},
          .children = {{node, 1, 0}, {leaf, 0, 2}, {node, 2, 1}},
          .references = {7, 8, 9},
          .bounds = both};
}

Level encoded(const std::string& layout) {
  return Layouts::create(layout).model->encode(small_tree(), *NodeOrders::create("depth-first").model);
}

constexpr std::uint32_t kUnused = 0xFFFF'FFFFU;

TEST(Bytes, Wide8) {
  const Level level = encoded("wide-8");
  ASSERT_EQ(level.nodes.size(), 2 * 256U);
  EXPECT_EQ(values_at<float>(level, 0, 0, 3), (Floats{0, -1, kInfinity}));
  EXPECT_EQ(values_at<float>(level, 0, 32, 3), (Floats{0, -2, kInfinity}));
  EXPECT_EQ(values_at<float>(level, 0, 64, 3), (Floats{0, -3, kInfinity}));
  EXPECT_EQ(values_at<float>(level, 0, 96, 3), (Floats{4, 0, -kInfinity}));
  EXPECT_EQ(values_at<float>(level, 0, 128, 3), (Floats{2, 1, -kInfinity}));
  EXPECT_EQ(values_at<float>(level, 0, 160, 3), (Floats{1, 3.96875F, -kInfinity}));
  EXPECT_EQ(values_at<std::uint32_t>(level, 0, 192, 8),
            (Words{1, 0, kUnused, kUnused, kUnused, kUnused, kUnused, kUnused}));
  EXPECT_EQ(values_at<std::uint32_t>(level, 0, 224, 8), (Words{0, 2, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(values_at<std::uint32_t>(level, 1, 192, 2), (Words{2, kUnused}));
  EXPECT_EQ(values_at<std::uint32_t>(level, 1, 224, 2), (Words{1, 0}));
}

TEST(Bytes, Wide4) {
  const Level level = encoded("wide-4");
  ASSERT_EQ(level.nodes.size(), 2 * 128U);
  EXPECT_EQ(values_at<float>(level, 0, 0, 4), (Floats{0, -1, kInfinity, kInfinity}));
  EXPECT_EQ(values_at<float>(level, 0, 32, 4), (Floats{0, -3, kInfinity, kInfinity}));
  EXPECT_EQ(values_at<float>(level, 0, 48, 4), (Floats{4, 0, -kInfinity, -kInfinity}));
  EXPECT_EQ(values_at<float>(level, 0, 80, 4), (Floats{1, 3.96875F, -kInfinity, -kInfinity}));
  EXPECT_EQ(values_at<std::uint32_t>(level, 0, 96, 8), (Words{1, 0, kUnused, kUnused, 0, 2, 0, 0}));
}

TEST(Bytes, Binary) {
  const Level level = encoded("binary");
  ASSERT_EQ(level.nodes.size(), 2 * 64U);
  EXPECT_EQ(values_at<float>(level, 0, 0, 12), (Floats{0, 4, 0, 2, -1, 0, -2, 1, 0, 1, -3, 3.96875F}));
  EXPECT_EQ(values_at<std::uint32_t>(level, 0, 48, 4), (Words{1, 0, 0, 2}));
  EXPECT_EQ(values_at<float>(level, 1, 0, 12),
            (Floats{0, 4, 0, 2, kInfinity, -kInfinity, kInfinity, -kInfinity, 0, 1, kInfinity, -kInfinity}));
  EXPECT_EQ(values_at<std::uint32_t>(level, 1, 48, 4), (Words{2, kUnused, 1, 0}));
}

TEST(Bytes, CompressedWide8) {
  const Level level = encoded("compressed-wide-8");
  ASSERT_EQ(level.nodes.size(), 2 * 80U);
  EXPECT_EQ(values_at<float>(level, 0, 0, 3), (Floats{-1, -2, -3}));
  // Steps of 1/32 on each axis; slot 0 is a record.
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 12, 4), (Bytes{122, 122, 122, 1}));
  EXPECT_EQ(values_at<std::uint32_t>(level, 0, 16, 2), (Words{1, 0}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 24, 8), (Bytes{0x38, 0x60, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 32, 3), (Bytes{32, 0, 255}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 40, 3), (Bytes{64, 0, 255}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 48, 3), (Bytes{96, 0, 255}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 56, 3), (Bytes{160, 32, 0}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 64, 3), (Bytes{128, 96, 0}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 72, 3), (Bytes{128, 223, 0}));
  EXPECT_EQ(values_at<std::uint32_t>(level, 1, 16, 2), (Words{0, 2}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 1, 24, 2), (Bytes{0x20, 0}));
}

TEST(Bytes, CompressedWide8NumbersReferencesByNode) {
  // The root's leaves of 3, 1 and 2 references with a node between: offsets 0, 3, 4 from the root's first reference.
  const Box box{.low = {0, 0, 0}, .high = {1, 1, 1}};
  const Tree tree{.nodes = {{0, 4}, {4, 1}},
                  .children = {{box, 4, 3}, {box, 1, 0}, {box, 7, 1}, {box, 0, 2}, {box, 2, 2}},
                  .references = {10, 11, 12, 13, 14, 15, 16, 17},
                  .bounds = box};
  const Level level =
      Layouts::create("compressed-wide-8").model->encode(tree, *NodeOrders::create("depth-first").model);
  EXPECT_EQ(level.references, (Words{14, 15, 16, 17, 10, 11, 12, 13}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 24, 5), (Bytes{0xE0, 0x39, 0x23, 0x64, 0}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 15, 1), (Bytes{2}));
  EXPECT_EQ(values_at<std::uint32_t>(level, 1, 20, 1), (Words{6}));
}

TEST(Bytes, Quantised6) {
  const Level level = encoded("quantised-6");
  ASSERT_EQ(level.nodes.size(), 4 * 64U);  // two nodes, two leaf blocks
  EXPECT_EQ(values_at<float>(level, 0, 0, 3), (Floats{-1, -2, -3}));
  EXPECT_EQ(values_at<std::int32_t>(level, 0, 12, 1), (std::vector<std::int32_t>{1}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 16, 12), (Bytes{0, 0, 122, 122, 122, 0xFF, 1, 13, 0, 0, 0, 0}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 28, 12), (Bytes{32, 0, 128, 128, 128, 128, 160, 32, 0, 0, 0, 0}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 40, 12), (Bytes{64, 0, 128, 128, 128, 128, 128, 96, 0, 0, 0, 0}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 52, 12), (Bytes{96, 0, 128, 128, 128, 128, 128, 223, 0, 0, 0, 0}));
  EXPECT_EQ(values_at<std::int32_t>(level, 1, 12, 1), (std::vector<std::int32_t>{2}));
  EXPECT_EQ(values_at<std::uint32_t>(level, 2, 0, 5), (Words{0, 2, 7, 8, trace::kNone}));
  EXPECT_EQ(values_at<std::uint32_t>(level, 3, 0, 4), (Words{2, 1, 9, trace::kNone}));
}

TEST(Bytes, Half4) {
  const Level level = encoded("half-4");
  ASSERT_EQ(level.nodes.size(), 2 * 64U);
  EXPECT_EQ(values_at<std::uint32_t>(level, 0, 0, 4), (Words{1, 0x9000'0000U, kUnused, kUnused}));
  EXPECT_EQ(values_at<std::uint16_t>(level, 0, 16, 18), (Halves{0, 0, 0, 0x4400, 0x4000, 0x3C00,            //
                                                                0xBC00, 0xC000, 0xC200, 0, 0x3C00, 0x43F0,  //
                                                                0x7C00, 0x7C00, 0x7C00, 0xFC00, 0xFC00, 0xFC00}));
  EXPECT_EQ(values_at<std::uint32_t>(level, 1, 0, 2), (Words{0x8000'0002U, kUnused}));
}

BoxRay random_ray(test::Random& random) {
  std::array<double, 3> origin{};
  std::array<double, 3> direction{};
  const bool wild = random.one_in(3);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    origin[axis] = static_cast<double>(wild ? test::random_float(random) : random.unit() * 4);
    if (std::abs(origin[axis]) >= kFarOrigin) {  // bounds nothing on its axis (box_ray.hpp): kernels go by `used` then
      origin[axis] /= 2 * (std::abs(origin[axis]) / kFarOrigin);
    }
    direction[axis] = random.one_in(3) ? (random.one_in(2) ? 0.0 : -0.0)
                                       : static_cast<double>(wild ? test::random_float(random) : random.unit());
  }
  if (direction == std::array<double, 3>{}) {
    direction[random.below(3)] = -1;
  }
  return make_box_ray(origin, direction, random.one_in(4) ? -kFarthest : 0.0F);
}

TEST(UnusedSlots, AreNeverMet) {
  test::Random random(2);
  const Level wide_4 = encoded("wide-4");
  const Level wide_8 = encoded("wide-8");
  const Level binary = encoded("binary");
  const Level half = encoded("half-4");
  const Level compressed = encoded("compressed-wide-8");
  const Level quantised = encoded("quantised-6");
  for (std::size_t slot = 2; slot < 8; ++slot) {
    EXPECT_FALSE(wide_node<8>(wide_8, 0).used(slot));
    EXPECT_FALSE(compressed_wide_8_node(compressed, 0).used(slot));
    if (slot < 6) {
      EXPECT_FALSE(quantised_6_node(quantised, 0).used(slot));
    }
  }
  for (int round = 0; round < 100'000; ++round) {
    const BoxRay ray = random_ray(random);
    ASSERT_FALSE(meet(wide_node<4>(wide_4, 0).box(2), ray, kFarthest).met);
    ASSERT_FALSE(meet(wide_node<8>(wide_8, 0).box(7), ray, kFarthest).met);
    ASSERT_FALSE(meet(binary_node(binary, 1).box(1), ray, kFarthest).met);
    ASSERT_FALSE(meet(half_4_node(half, 0).box(3), ray, kFarthest).met);
  }
}

TEST(DecodedBoxes, AreMetWhereTheTrueOnesAre) {
  for (const std::string& name : Layouts::names()) {
    const auto layout = Layouts::create(name).model;
    const LayoutTraits traits = layout->traits();
    test::Random random(8);
    std::uint64_t met = 0;
    for (const test::BoxKind kind : test::kBoxKinds) {
      for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const Tree tree = test::random_tree(
            {.seed = seed, .nodes = 1, .width = traits.width, .max_leaf = traits.max_leaf, .boxes = kind});
        const Level level = layout->encode(tree, *NodeOrders::create("depth-first").model);
        std::array<ChildView, kMaxWidth> views;
        const std::size_t count = layout->decode(level, 0, views);
        for (int round = 0; round < 100; ++round) {
          const BoxRay ray = random_ray(random);
          for (std::size_t slot = 0; slot < count; ++slot) {
            const BoxEntry inside = meet(tree.children[slot].box, ray, kFarthest);
            const BoxEntry outside = meet(views[slot].box, ray, kFarthest);
            ASSERT_TRUE(outside.met || !inside.met) << name;
            if (inside.met) {
              ASSERT_LE(outside.entry, inside.entry) << name;
              ++met;
            }
          }
        }
      }
    }
    EXPECT_GT(met, 1000U) << name;
  }
}

}  // namespace
}  // namespace rayreplay::bvh
