// Maps of last accesses: values, slices of depth, names of files.
#include "app/report/memory/memory_maps.hpp"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/memory/results/last_accesses.hpp"

namespace rayreplay::test {
namespace {

using memory::LastAccesses;
using testing::ElementsAre;
using testing::IsNan;

/// One lane a transaction: its thread and cycle.
memory::TransactionBlock block_of(const std::vector<std::pair<std::uint32_t, std::uint64_t>>& accesses) {
  memory::TransactionBlock block;
  for (const auto& [thread, cycle] : accesses) {
    block.transactions.push_back({.sectors = 1, .lanes = 1});
    block.requests.push_back({0, thread});
    block.cycles.push_back(cycle);
  }
  return block;
}

TEST(LastAccesses, OfEachLane) {
  LastAccesses last(4);
  last.take(block_of({{0, 5}, {1, 6}, {0, 9}}));
  memory::TransactionBlock block = block_of({{3, 12}});
  block.transactions[0].lanes = 2;
  block.requests.push_back({0, 1});
  last.take(block);
  last.take(block_of({{memory::kNoThread, 20}}));
  EXPECT_THAT(last.cycles(), ElementsAre(9, 12, LastAccesses::kNoAccess, 12));
}

TEST(MemoryMaps, AreInMicrosecondsAndOfTheLatestSlice) {
  const std::vector<std::uint64_t> last = {1000, LastAccesses::kNoAccess, 3000, 500,  // slice 0
                                           2000, LastAccesses::kNoAccess, 1000, LastAccesses::kNoAccess};
  const experiment::PixelMap map = report::last_access_map({2, 2, 2}, last, 500);
  EXPECT_EQ(map.width, 2U);
  EXPECT_EQ(map.height, 2U);
  EXPECT_THAT(map.values, ElementsAre(4, IsNan(), 6, 1));
}

TEST(MemoryMaps, FilesOfEachRowAndOfEachChange) {
  const experiment::PixelMap map{2, 2, {0, 1, 2, std::nanf("")}};
  const auto pictures = report::memory_pictures({{0, "plain", 0.1, map}, {2, "ser:scope=sm, tiled", 0.2, map}}, {});
  std::vector<std::string> files;
  for (const report::Picture& picture : pictures) {
    files.push_back(picture.file);
    EXPECT_TRUE(report::is_memory_picture(picture.file)) << picture.file;
    EXPECT_FALSE(picture.png.empty());
  }
  EXPECT_THAT(files, ElementsAre("last-access-0-plain.png", "last-access-2-ser-scope-sm--tiled.png",
                                 "last-access-change-2-ser-scope-sm--tiled.png"));
  EXPECT_FALSE(report::is_memory_picture("last-access-.png"));
  EXPECT_FALSE(report::is_memory_picture("last-access-../a.png"));
  EXPECT_TRUE(report::memory_pictures({{0, "plain", 0.1, {4, 1, {0, 1, 2, 3}}}}, {}).empty()) << "one row";
  EXPECT_TRUE(report::memory_pictures({}, {}).empty());
}

}  // namespace
}  // namespace rayreplay::test
