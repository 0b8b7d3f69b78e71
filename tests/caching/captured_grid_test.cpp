// A captured launch, with its own loads, stores and sectors: many hierarchies against each by itself.
#include "sim/caching/grid/cache_grid.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "tests/support/cache_one_by_one.hpp"
#include "tests/support/captured_streams.hpp"

namespace rayreplay::experiment {
namespace {

/// Warp after warp, on four SMs in turn, one instruction each.
RecordedStream captured() {
  constexpr std::uint32_t kSms = 4;
  const test::CapturedStreams launch = test::captured_streams("one-weekend");
  const std::vector<memory::WarpStream>& streams = launch.warps;
  RecordedStream stream;
  stream.coalescing = launch.coalescing;
  stream.sms = kSms;
  for (std::size_t first = 0; first < streams.size(); first += kSms) {
    bool busy = true;
    for (std::size_t instruction = 0; busy; ++instruction) {
      busy = false;
      for (std::size_t w = first; w < first + kSms && w < streams.size(); ++w) {
        if (instruction < streams[w].instructions()) {
          busy = true;
          for (std::size_t i = streams[w].first[instruction]; i < streams[w].first[instruction + 1]; ++i) {
            stream.transactions.push_back(streams[w].transactions[i]);
            stream.transactions.back().sm = static_cast<std::uint16_t>(w % kSms);
          }
        }
      }
    }
  }
  return stream;
}

TEST(CapturedGrid, HierarchiesAreThoseOfTheAnalysis) {
  const RecordedStream stream = captured();
  ASSERT_GT(stream.transactions.size(), 10000U);
  std::vector<Hierarchy> hierarchies;
  for (const std::uint64_t l1_lines : {32U, 48U, 256U}) {
    for (const std::uint32_t ways : {4U, 0U}) {
      for (const memory::L2Feed feed : {memory::L2Feed::All, memory::L2Feed::Misses}) {
        const memory::CacheGeometry l1{.bytes = l1_lines * 128, .line_bytes = 128, .ways = ways, .sector_bytes = 32};
        const memory::CacheGeometry l2{.bytes = l1_lines * 1024, .line_bytes = 128, .ways = 16, .sector_bytes = 32};
        hierarchies.push_back({l1, l2, "lru:write=through,allocate=false", "lru", feed});
        hierarchies.push_back({l1, {}, "sdcm", "lru", feed});
      }
    }
  }
  const GridResult grid = cache_grid(stream, hierarchies, nullptr, nullptr);
  for (std::size_t i = 0; i < hierarchies.size(); ++i) {
    const HierarchyCounts expected = test::cache_one_by_one(stream, hierarchies[i]);
    EXPECT_FALSE(grid.failures[i].has_value());
    EXPECT_EQ(grid.counts[i].l1, expected.l1) << i;
    EXPECT_EQ(grid.counts[i].l2, expected.l2) << i;
    EXPECT_EQ(grid.counts[i].dram_read_bytes, expected.dram_read_bytes) << i;
    EXPECT_EQ(grid.counts[i].dram_written_bytes, expected.dram_written_bytes) << i;
  }
  const RecordedStream again = read_stream(write_stream(stream), "test");
  EXPECT_EQ(again.transactions, stream.transactions);
}

}  // namespace
}  // namespace rayreplay::experiment
