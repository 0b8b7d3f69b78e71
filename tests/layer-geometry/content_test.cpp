#include "capture/layer/geometry/content.hpp"

#include <gtest/gtest.h>

#include "capture/layer/geometry/structure_writer.hpp"

namespace rayreplay::layer::geometry {
namespace {

Content mesh(std::uint8_t fill, std::size_t bytes = 360) {
  Content content;
  spool::Geometry& geometry = content.geometries.emplace_back();
  geometry.vertices.assign(bytes, fill);
  geometry.vertex_stride = 12;
  return content;
}

Content top(const std::vector<std::shared_ptr<Content>>& bottoms) {
  Content content;
  content.top_level = true;
  for (const auto& bottom : bottoms) {
    TopInstance& instance = content.instances.emplace_back();
    instance.raw.mask = 0xFF;
    instance.bottom = bottom;
  }
  return content;
}

TEST(ContentStore, EqualContentsAreKeptOnce) {
  ContentStore store(1 << 20);
  const auto a = store.intern(mesh(1));
  EXPECT_EQ(store.intern(mesh(1)), a);
  EXPECT_NE(store.intern(mesh(2)), a);
  EXPECT_EQ(store.held_bytes(), 360U);  // the other died
  auto changed = mesh(1);
  changed.geometries[0].flags = 1;
  EXPECT_NE(store.intern(std::move(changed)), a);
  EXPECT_EQ(store.intern(top({a})), store.intern(top({a})));
  const auto b = store.intern(mesh(3));
  const auto of_a = store.intern(top({a}));
  EXPECT_NE(store.intern(top({b})), of_a);
}

TEST(ContentStore, WhatDoesNotFitIsMissingAndRoomComesBack) {
  ContentStore store(1000);
  auto a = store.intern(mesh(1, 600));
  const auto b = store.intern(mesh(2, 600));
  EXPECT_EQ(store.held_bytes(), 600U);
  EXPECT_TRUE(a->missing.empty());
  EXPECT_NE(b->missing.find("memory limit"), std::string::npos);
  EXPECT_NE(b->geometries.at(0).missing, "");
  EXPECT_TRUE(b->geometries[0].vertices.empty());
  a.reset();
  EXPECT_EQ(store.held_bytes(), 0U);
  // Once there is room the same bytes are kept: the content without them is not taken for it, nor are its users.
  const auto user_of_missing = store.intern(top({b}));
  const auto again = store.intern(mesh(2, 600));
  EXPECT_TRUE(again->missing.empty());
  EXPECT_NE(store.intern(top({again})), user_of_missing);
}

TEST(ContentStore, ContentsMayOutliveTheStore) {
  std::shared_ptr<Content> kept;
  {
    ContentStore store(1000);
    kept = store.intern(mesh(1));
  }
  EXPECT_EQ(kept->geometries.size(), 1U);
}

class StructureWriterTest : public testing::Test {
 protected:
  std::uint32_t write(Content& content) {
    return write_structure(
        content, 3, store, [](const Content& of) { return "name " + std::to_string(of.holder); },
        [this](const spool::Structure& block) {
          blocks.push_back(block);
          return writable;
        });
  }
  ContentStore store{1 << 20};
  std::vector<spool::Structure> blocks;
  bool writable = true;
};

TEST_F(StructureWriterTest, BottomLevelsComeFirstAndEachOnce) {
  const auto a = store.intern(mesh(1));
  const auto b = store.intern(mesh(2));
  a->holder = 5;
  const auto scene = store.intern(top({b, a, nullptr, b}));
  const std::uint32_t number = write(*scene);
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[2].structure, number);
  EXPECT_EQ(blocks[2].top_level, 1);
  EXPECT_EQ(blocks[2].device, 3U);
  ASSERT_EQ(blocks[2].instances.size(), 4U);
  EXPECT_EQ(blocks[2].instances[0].structure, b->id);
  EXPECT_EQ(blocks[2].instances[1].structure, a->id);
  EXPECT_EQ(blocks[2].instances[2].structure, spool::kNullReference);
  EXPECT_EQ(blocks[2].instances[3].structure, b->id);
  EXPECT_EQ(blocks[1].name, "name 5");
  EXPECT_EQ(blocks[1].geometries.at(0).vertices, std::vector<std::uint8_t>(360, 1));
  EXPECT_LT(blocks[0].structure, blocks[1].structure);
  EXPECT_LT(blocks[1].structure, blocks[2].structure);
  // Written ones hold no bytes any more, keep their number, and equal builds are still known.
  EXPECT_TRUE(a->geometries.at(0).vertices.empty());
  EXPECT_EQ(write(*scene), number);
  EXPECT_EQ(store.intern(mesh(1)), a);
  const auto other = store.intern(top({a}));
  EXPECT_NE(write(*other), number);
  EXPECT_EQ(blocks.size(), 4U);
}

TEST_F(StructureWriterTest, InstancesAreSpooledFieldByField) {
  Content content = top({nullptr});
  auto& raw = content.instances[0].raw;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 4; ++c) {
      raw.transform.matrix[r][c] = static_cast<float>(4 * r + c);
    }
  }
  raw.instanceCustomIndex = 0xABCDEF;
  raw.mask = 0x5A;
  raw.instanceShaderBindingTableRecordOffset = 0x123456;
  raw.flags = 9;
  static_cast<void>(write(content));
  const spool::Instance& made = blocks.at(0).instances.at(0);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(made.transform[i], static_cast<float>(i));
  }
  EXPECT_EQ(made.custom_index, 0xABCDEFU);
  EXPECT_EQ(made.hit_group_offset, 0x123456U);
  EXPECT_EQ(made.mask, 0x5A);
  EXPECT_EQ(made.flags, 9);
}

TEST_F(StructureWriterTest, AFailedWriteGivesNoNumberAndKeepsTheBytes) {
  const auto a = store.intern(mesh(1));
  writable = false;
  EXPECT_EQ(write(*a), spool::kNone);
  EXPECT_EQ(a->geometries.at(0).vertices.size(), 360U);
  const auto scene = store.intern(top({a}));
  EXPECT_EQ(write(*scene), spool::kNone);
  EXPECT_EQ(blocks.size(), 2U);  // the top level was not tried
}

}  // namespace
}  // namespace rayreplay::layer::geometry
