// The export of instructions whose lanes have several addresses: a record for each of them.
#include "sim/caching/memory_export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace rayreplay::test {
namespace {

using testing::ElementsAre;

TEST(MemoryExport, EachTexelOfASampleIsARecord) {
  const std::string path = testing::TempDir() + "memory_export_test.mtr";
  std::filesystem::remove(path);
  memory::Instructions raw;
  raw.rows.push_back({.mask = 0b101, .first = 0, .bytes = 4, .kind = memory::DataKind::ImageSample});
  raw.rows.back().pieces = 3;
  raw.rows.push_back({.mask = 0b10, .first = 6, .bytes = 16, .kind = memory::DataKind::ImageStore, .store = true});
  // Lane 2 has two texels: its last one is repeated.
  raw.address = {0x100, 0x200, 0x104, 0x240, 0x120, 0x240, 0x300};
  raw.element.assign(7, 0);
  raw.thread.assign(7, 0);
  import::TraceHeader header;
  header.sms = 2;
  header.warp_size = 4;
  experiment::MemoryExport sink(path, import::TraceForm::Binary, false, header);
  sink.take(1, 5, 0, raw, 0);
  sink.take(0, 6, 0, raw, 1);
  sink.commit();
  EXPECT_EQ(sink.records(), 4U);
  EXPECT_EQ(sink.lanes(), 6U);
  const auto reader = import::open_memory_trace(path);
  import::RecordBlock block;
  ASSERT_TRUE(reader->next(block));
  EXPECT_THAT(block.sm, ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(block.warp, ElementsAre(5, 5, 5, 6));
  EXPECT_THAT(block.store, ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(block.bytes, ElementsAre(4, 4, 4, 16));
  EXPECT_THAT(block.mask, ElementsAre(0b101, 0b101, 0b001, 0b10));
  EXPECT_THAT(block.address, ElementsAre(0x100, 0x200, 0x104, 0x240, 0x120, 0x300));
  EXPECT_FALSE(reader->next(block));
}

}  // namespace
}  // namespace rayreplay::test
