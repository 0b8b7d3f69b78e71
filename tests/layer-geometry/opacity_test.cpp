#include "capture/layer/geometry/opacity.hpp"

#include <gtest/gtest.h>

#include <random>

namespace rayreplay::layer::geometry {
namespace {

constexpr std::uint8_t kForceOpaque = VK_GEOMETRY_INSTANCE_FORCE_OPAQUE_BIT_KHR;
constexpr std::uint8_t kForceNoOpaque = VK_GEOMETRY_INSTANCE_FORCE_NO_OPAQUE_BIT_KHR;

std::shared_ptr<Content> bottom(const std::vector<bool>& opaque) {
  auto made = std::make_shared<Content>();
  for (const bool is : opaque) {
    made->geometries.emplace_back().flags = is ? VK_GEOMETRY_OPAQUE_BIT_KHR : 0;
  }
  return made;
}

TopInstance instance(std::shared_ptr<Content> of, std::uint8_t flags) {
  TopInstance made;
  made.raw.accelerationStructureReference = 0x100;
  made.raw.flags = flags;
  made.bottom = std::move(of);
  return made;
}

/// As the shader looks it up.
bool bit(const std::vector<std::uint32_t>& table, std::size_t instance_index, std::size_t geometry) {
  const std::size_t at = table.at(1 + instance_index) + geometry;
  return (table.at(1 + table.at(0) + at / 32) >> (at % 32) & 1U) != 0;
}

TEST(OpacityTable, InstanceFlagsOverrideThoseOfTheGeometry) {
  Content top;
  top.top_level = true;
  const auto mesh = bottom({true, false, true});
  top.instances = {instance(mesh, 0), instance(mesh, kForceOpaque), instance(mesh, kForceNoOpaque),
                   instance(mesh, VK_GEOMETRY_INSTANCE_TRIANGLE_FACING_CULL_DISABLE_BIT_KHR)};
  const auto table = opacity_table(top);
  ASSERT_EQ(table.at(0), 4U);
  const bool expected[4][3] = {{true, false, true}, {true, true, true}, {false, false, false}, {true, false, true}};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t g = 0; g < 3; ++g) {
      EXPECT_EQ(bit(table, i, g), expected[i][g]) << i << " " << g;
    }
  }
  EXPECT_EQ(table[1], table[4]);  // culling is another matter: shared
}

TEST(OpacityTable, UnknownContentGivesNone) {
  Content top;
  EXPECT_TRUE(opacity_table(top).empty());
  top.top_level = true;
  EXPECT_EQ(opacity_table(top), std::vector<std::uint32_t>{0});
  top.instances = {instance(nullptr, 0)};
  EXPECT_TRUE(opacity_table(top).empty());
  top.instances[0].raw.accelerationStructureReference = 0;  // inactive
  EXPECT_EQ(opacity_table(top), (std::vector<std::uint32_t>{1, 0}));
  top.missing = "unknown";
  EXPECT_TRUE(opacity_table(top).empty());
  top.missing.clear();
  top.instances = {instance(bottom({true}), 0)};
  top.instances[0].bottom->missing = "unknown";
  EXPECT_TRUE(opacity_table(top).empty());
}

TEST(OpacityTable, AgreesWithTheRuleForManyGeometries) {
  std::mt19937 random(3);
  Content top;
  top.top_level = true;
  for (int m = 0; m < 40; ++m) {
    std::vector<bool> opaque(random() % 70);
    for (std::size_t g = 0; g < opaque.size(); ++g) {
      opaque[g] = random() % 2 != 0;
    }
    const auto mesh = bottom(opaque);
    for (int i = 0; i < 3; ++i) {
      const std::uint8_t flags[] = {0, kForceOpaque, kForceNoOpaque};
      top.instances.push_back(instance(mesh, flags[random() % 3]));
    }
  }
  const auto table = opacity_table(top);
  for (std::size_t i = 0; i < top.instances.size(); ++i) {
    const auto& geometries = top.instances[i].bottom->geometries;
    for (std::size_t g = 0; g < geometries.size(); ++g) {
      const auto flags = top.instances[i].raw.flags;
      const bool expected = flags == kForceOpaque || (flags == 0 && geometries[g].flags != 0);
      ASSERT_EQ(bit(table, i, g), expected);
    }
  }
}

}  // namespace
}  // namespace rayreplay::layer::geometry
