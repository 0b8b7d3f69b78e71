#include "capture/layer/geometry/structure_table.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace rayreplay::layer::geometry {
namespace {

VkAccelerationStructureKHR handle(std::uint64_t number) {
  return reinterpret_cast<VkAccelerationStructureKHR>(number);
}

constexpr auto kBottom = VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR;
constexpr auto kTop = VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR;

std::shared_ptr<Content> content(bool top_level) {
  auto made = std::make_shared<Content>();
  made->top_level = top_level;
  return made;
}

TEST(StructureTable, FindsByAddressAndByHandle) {
  StructureTable table;
  const auto a = table.create(handle(1), kBottom, 0x100);
  const auto b = table.create(handle(2), kBottom, 0);
  EXPECT_EQ(table.find(0x100), a);
  EXPECT_EQ(table.find(2), b);  // host builds name handles
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(0x999), nullptr);
  table.set_address(handle(2), 0x200);
  EXPECT_EQ(table.find(0x200), b);
  table.set_address(handle(2), 0x300);
  EXPECT_EQ(table.find(0x200), nullptr);
}

TEST(StructureTable, OfSeveralAtOneAddressTheLatestBuiltLiveOneCounts) {
  StructureTable table;
  const auto a = table.create(handle(1), kBottom, 0x100);
  const auto b = table.create(handle(2), kBottom, 0x100);
  table.set_content(*b, content(false));
  EXPECT_EQ(table.find(0x100), b);
  table.set_content(*a, content(false));
  EXPECT_EQ(table.find(0x100), a);
  table.destroy(handle(1));
  EXPECT_EQ(table.find(0x100), b);
  table.destroy(handle(2));
  EXPECT_EQ(table.find(0x100), a);  // dead, yet built last
  const auto c = table.create(handle(3), kBottom, 0x100);
  EXPECT_EQ(table.find(0x100), c);
}

TEST(StructureTable, ManyThatDiedAreForgotten) {
  StructureTable table;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    table.create(handle(i), kBottom, 0x1000 + i);
    table.destroy(handle(i));
  }
  EXPECT_EQ(table.find(0x1000 + 1), nullptr);
  EXPECT_NE(table.find(0x1000 + 1000), nullptr);
  EXPECT_EQ(table.get(handle(1000)), nullptr);
}

TEST(StructureTable, TopLevelsComeLatestFirst) {
  StructureTable table;
  const auto a = table.create(handle(1), kTop, 0x100);
  const auto b = table.create(handle(2), VK_ACCELERATION_STRUCTURE_TYPE_GENERIC_KHR, 0x200);
  table.create(handle(3), kTop, 0x300);  // never built
  const auto d = table.create(handle(4), kBottom, 0x400);
  table.set_content(*a, content(true));
  table.set_content(*b, content(true));
  table.set_content(*d, content(false));
  EXPECT_EQ(table.top_levels(), (std::vector<StructurePointer>{b, a}));
  table.set_content(*a, content(true));
  EXPECT_EQ(table.top_levels(), (std::vector<StructurePointer>{a, b}));
  table.destroy(handle(1));
  EXPECT_EQ(table.top_levels(), (std::vector<StructurePointer>{b}));
}

TEST(StructureTable, ATopLevelFollowsBottomLevelsThatWereBuiltAfterIt) {
  StructureTable table;
  ContentStore store(1 << 20);
  const auto bottom = table.create(handle(1), kBottom, 0x100);
  const auto top = table.create(handle(2), kTop, 0x200);
  table.set_content(*bottom, store.intern(Content{}));
  Content scene;
  scene.top_level = true;
  scene.flags = 3;
  scene.instances.resize(2);
  scene.instances[0].raw.accelerationStructureReference = 0x100;
  scene.instances[0].bottom = bottom->content;
  scene.instances[1].raw.accelerationStructureReference = 0x999;
  table.set_content(*top, store.intern(std::move(scene)));
  EXPECT_EQ(table.refreshed(*top, store), nullptr);

  Content changed;
  changed.flags = 8;
  table.set_content(*bottom, store.intern(std::move(changed)));
  const auto now = table.refreshed(*top, store);
  ASSERT_NE(now, nullptr);
  EXPECT_EQ(now->flags, 3U);
  EXPECT_EQ(now->instances[0].bottom, bottom->content);
  EXPECT_EQ(now->instances[1].bottom, nullptr);
  EXPECT_NE(now, top->content);
  top->content = now;
  EXPECT_EQ(table.refreshed(*top, store), nullptr);

  // A new structure at the address that nothing was built into yet says nothing about what the launch saw.
  table.destroy(handle(1));
  table.create(handle(3), kBottom, 0x100);
  const auto other = table.create(handle(4), kBottom, 0x400);
  table.set_content(*other, store.intern(Content{}));
  EXPECT_EQ(table.refreshed(*top, store), nullptr);
  EXPECT_EQ(table.refreshed(*bottom, store), nullptr);
}

/// As vkCmdCopyAccelerationStructureToMemoryKHR lays them out.
std::vector<std::uint8_t> serialized(const std::vector<std::uint64_t>& handles, std::uint8_t fill) {
  const std::uint64_t numbers[] = {32 + 24 + 8 * handles.size() + 100, 5000, handles.size()};
  std::vector<std::uint8_t> bytes(numbers[0], fill);
  std::memcpy(bytes.data() + 32, numbers, sizeof numbers);
  if (!handles.empty()) {
    std::memcpy(bytes.data() + 56, handles.data(), 8 * handles.size());
  }
  return bytes;
}

TEST(Serialized, IsRecognisedByItsBytesWithOtherHandles) {
  const auto bytes = serialized({1, 2, 3}, 7);
  auto longer = bytes;
  longer.resize(bytes.size() + 1000);  // the rest of its buffer
  const auto view = view_serialized(bytes);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->handles, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(view_serialized(longer)->hash, view->hash);
  EXPECT_EQ(view_serialized(serialized({9, 8, 7}, 7))->hash, view->hash);
  EXPECT_NE(view_serialized(serialized({1, 2, 3}, 8))->hash, view->hash);
}

TEST(Serialized, DamagedDataIsNone) {
  EXPECT_FALSE(view_serialized({}));
  const auto bytes = serialized({1, 2}, 7);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(view_serialized({bytes.data(), size})) << size;
  }
  auto wrong = bytes;
  const std::uint64_t many = ~std::uint64_t{0};
  std::memcpy(wrong.data() + 48, &many, sizeof many);
  EXPECT_FALSE(view_serialized(wrong));
  std::memcpy(wrong.data() + 32, &many, sizeof many);
  EXPECT_FALSE(view_serialized(wrong));
}

TEST(Serialized, ATopLevelsReferencesAreRenamedAsItsHandlesWere) {
  StructureTable table;
  ContentStore store(1 << 20);
  const auto moved = table.create(handle(1), kBottom, 0x900);
  table.set_content(*moved, content(false));
  Content scene;
  scene.top_level = true;
  scene.flags = 4;
  scene.instances.resize(3);
  scene.instances[0].raw.accelerationStructureReference = 0x100;
  scene.instances[1].raw.accelerationStructureReference = 0x200;
  const auto kept = store.intern(std::move(scene));
  SerializedStore serializations;
  serializations.put(*view_serialized(serialized({0x100, 0x200}, 1)), kept);

  const auto found = serializations.get(*view_serialized(serialized({0x900, 0x901}, 1)), table, store);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->flags, 4U);
  EXPECT_EQ(found->instances[0].bottom, moved->content);
  EXPECT_EQ(found->instances[1].raw.accelerationStructureReference, 0x901U);
  EXPECT_EQ(found->instances[1].bottom, nullptr);
  EXPECT_EQ(found->instances[2].raw.accelerationStructureReference, 0U);
  EXPECT_EQ(serializations.get(*view_serialized(serialized({0x900, 0x901}, 2)), table, store), nullptr);

  const auto mesh = store.intern(Content{});
  serializations.put(*view_serialized(serialized({}, 5)), mesh);
  EXPECT_EQ(serializations.get(*view_serialized(serialized({}, 5)), table, store), mesh);
}

}  // namespace
}  // namespace rayreplay::layer::geometry
