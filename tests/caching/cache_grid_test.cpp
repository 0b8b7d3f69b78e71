// Many hierarchies over one stream against each by itself.
#include "sim/caching/grid/cache_grid.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/caching/random_transactions.hpp"
#include "tests/support/cache_one_by_one.hpp"

namespace rayreplay::experiment {
namespace {

using memory::CacheGeometry;
using memory::L2Feed;

constexpr const char* kAround = "lru:write=through,allocate=false";
constexpr const char* kThrough = "lru:write=through";

CacheGeometry cache(std::uint64_t lines, std::uint32_t ways, std::uint32_t line = 128, std::uint32_t sector = 32) {
  return {.bytes = lines * line, .line_bytes = line, .ways = ways, .sector_bytes = sector};
}

std::string text(const HierarchyCounts& counts) {
  std::string result;
  for (const memory::CacheCounts& one : {counts.l1, counts.l2}) {
    for (const std::uint64_t value :
         {one.accesses, one.hits, one.sector_misses, one.evictions, one.sectors_filled, one.sectors_written}) {
      result += std::to_string(value) + " ";
    }
    result += "| ";
  }
  return result + std::to_string(counts.dram_read_bytes) + " " + std::to_string(counts.dram_written_bytes);
}

GridResult same_as_one_by_one(const RecordedStream& stream, const std::vector<Hierarchy>& hierarchies) {
  GridResult grid = cache_grid(stream, hierarchies, nullptr, nullptr);
  EXPECT_EQ(grid.counts.size(), hierarchies.size());
  EXPECT_EQ(grid.failures.size(), hierarchies.size());
  for (std::size_t i = 0; i < hierarchies.size(); ++i) {
    EXPECT_FALSE(grid.failures[i].has_value());
    EXPECT_EQ(text(grid.counts[i]), text(test::cache_one_by_one(stream, hierarchies[i])))
        << "hierarchy " << i << ": L1 " << to_string(hierarchies[i].l1) << " " << hierarchies[i].l1_model << ", L2 "
        << to_string(hierarchies[i].l2) << " " << hierarchies[i].l2_model
        << (hierarchies[i].l2_feed == L2Feed::All ? " all" : " misses");
  }
  return grid;
}

const std::vector<CacheGeometry> kL1s{{},           cache(1, 1),  cache(16, 4),  cache(48, 4),
                                      cache(60, 5), cache(64, 0), cache(320, 0), cache(64, 16)};
const std::vector<CacheGeometry> kL2s{{}, cache(64, 2), cache(128, 16), cache(300, 0), cache(96, 8)};

std::vector<Hierarchy> all_of(const std::vector<std::string>& l1_models, const std::vector<std::string>& l2_models) {
  std::vector<Hierarchy> result;
  for (const CacheGeometry& l1 : kL1s) {
    for (const CacheGeometry& l2 : kL2s) {
      for (const std::string& l1_model : l1_models) {
        for (const std::string& l2_model : l2_models) {
          for (const L2Feed feed : {L2Feed::All, L2Feed::Misses}) {
            result.push_back({l1, l2, l1_model, l2_model, feed});
          }
        }
      }
    }
  }
  return result;
}

TEST(CacheGrid, LruHierarchies) {
  for (const bool apart : {true, false}) {
    const RecordedStream stream = test::random_transactions({.stores_apart = apart}, 1);
    const GridResult grid = same_as_one_by_one(stream, all_of({kAround, "lru", kThrough}, {"lru", kAround}));
    EXPECT_GT(grid.passes, 0U);
  }
}

TEST(CacheGrid, OtherModels) {
  const RecordedStream stream = test::random_transactions({.size = 2000}, 2);
  same_as_one_by_one(stream, all_of({kAround, "fifo", "random:seed=3", "sdcm"}, {"lru", "fifo", "sdcm"}));
}

TEST(CacheGrid, OtherLinesAndSectors) {
  std::vector<Hierarchy> hierarchies;
  for (const std::uint32_t l1_sector : {16U, 32U, 64U, 128U}) {
    for (const std::uint32_t l2_line : {32U, 64U, 128U, 256U}) {
      for (const std::uint32_t l2_sector : {32U, l2_line}) {
        for (const L2Feed feed : {L2Feed::All, L2Feed::Misses}) {
          for (const char* l1_model : {kAround, "sdcm"}) {
            hierarchies.push_back(
                {cache(32, 4, 128, l1_sector), cache(256, 8, l2_line, l2_sector), l1_model, "lru", feed});
            hierarchies.push_back({cache(32, 4, 128, l1_sector), {}, l1_model, "lru", feed});
          }
        }
      }
    }
  }
  same_as_one_by_one(test::random_transactions({}, 3), hierarchies);
  std::vector<Hierarchy> narrow;
  for (const L2Feed feed : {L2Feed::All, L2Feed::Misses}) {
    narrow.push_back({cache(32, 4, 64, 8), cache(128, 8, 64, 0), "lru", "lru", feed});
    narrow.push_back({cache(32, 4, 64, 0), cache(128, 8, 32, 8), kAround, "lru", feed});
  }
  same_as_one_by_one(test::random_transactions({.line_bytes = 64, .sector_bytes = 8}, 4), narrow);
}

TEST(CacheGrid, ManySmsAndBlocks) {
  // More transactions than are put in order together.
  const RecordedStream stream =
      test::random_transactions({.sms = 20, .size = 300000, .lines = 20000, .stores_apart = false}, 5);
  std::vector<Hierarchy> hierarchies;
  for (const std::uint64_t lines : {64U, 256U}) {
    hierarchies.push_back({cache(lines, 4), cache(4096, 16), kAround, "lru", L2Feed::Misses});
    hierarchies.push_back({cache(lines, 8), cache(4096, 16), "lru", "lru", L2Feed::Misses});
  }
  same_as_one_by_one(stream, hierarchies);
}

TEST(CacheGrid, OnePassForEachNumberOfSets) {
  const RecordedStream stream = test::random_transactions({.sms = 2}, 6);
  std::vector<Hierarchy> hierarchies;
  for (const std::uint64_t sets : {4U, 8U, 16U}) {
    for (std::uint32_t ways = 1; ways <= 20; ++ways) {
      hierarchies.push_back({cache(sets * ways, ways), {}, kAround, "lru", L2Feed::Misses});
    }
  }
  EXPECT_EQ(same_as_one_by_one(stream, hierarchies).passes, 2 * 3U);
  for (Hierarchy& one : hierarchies) {
    one.l2 = one.l1;
    one.l2.bytes *= 4;
    one.l1 = {};
  }
  EXPECT_EQ(same_as_one_by_one(stream, hierarchies).passes, 3U);
}

TEST(CacheGrid, OnePassForAllThatKnowDistancesAlone) {
  const RecordedStream stream = test::random_transactions({.sms = 2, .size = 20000, .lines = 3000}, 9);
  std::vector<Hierarchy> hierarchies;
  for (const std::uint64_t sets : {1U, 3U, 16U, 64U}) {
    for (const std::uint32_t ways : {1U, 2U, 7U, 32U}) {
      hierarchies.push_back({cache(sets * ways, ways), {}, "sdcm", "lru", L2Feed::All});
    }
  }
  // What comes from memory is that of exact caches: a pass for each number of sets.
  EXPECT_EQ(same_as_one_by_one(stream, hierarchies).passes, 2 * (1U + 4U));
  for (Hierarchy& one : hierarchies) {
    std::swap(one.l1, one.l2);
    std::swap(one.l1_model, one.l2_model);
  }
  EXPECT_EQ(same_as_one_by_one(stream, hierarchies).passes, 1U);
}

TEST(CacheGrid, HierarchiesThatCannotBeFailAlone) {
  const RecordedStream stream = test::random_transactions({.size = 500}, 7);
  std::vector<Hierarchy> hierarchies(6, Hierarchy{cache(16, 4), cache(64, 4), kAround, "lru", L2Feed::Misses});
  hierarchies[1].l1.ways = 5;
  hierarchies[2].l1_model = "lruu";
  hierarchies[3].l1 = cache(16, 4, 64, 32);
  hierarchies[4].l2 = cache(64, 4, 16, 16);
  hierarchies[5].l2 = cache(std::uint64_t{1} << 30U, 0);
  const GridResult grid = cache_grid(stream, hierarchies, nullptr, nullptr);
  EXPECT_FALSE(grid.failures[0].has_value());
  EXPECT_EQ(text(grid.counts[0]), text(test::cache_one_by_one(stream, hierarchies[0])));
  for (std::size_t i = 1; i < hierarchies.size(); ++i) {
    ASSERT_TRUE(grid.failures[i].has_value()) << i;
    EXPECT_FALSE(grid.failures[i]->what.empty());
    try {
      (void)test::cache_one_by_one(stream, hierarchies[i]);
      FAIL() << i;
    } catch (const Error& error) {
      EXPECT_EQ(error.info().what, grid.failures[i]->what);
    }
  }
}

TEST(CacheGrid, StreamsWithoutAnything) {
  RecordedStream stream;
  same_as_one_by_one(stream, all_of({kAround}, {"lru", "sdcm"}));
  EXPECT_TRUE(cache_grid(stream, {}, nullptr, nullptr).counts.empty());
}

TEST(CacheGrid, TransactionsThatCannotBeAreRefused) {
  RecordedStream stream = test::random_transactions({.size = 10}, 8);
  stream.transactions[3].sm = 100;
  EXPECT_THROW((void)cache_grid(stream, all_of({kAround}, {"lru"}), nullptr, nullptr), Error);
}

/// By hand: two SMs, one line in each L1, all lines in the L2.
TEST(CacheGrid, Example) {
  RecordedStream stream;
  stream.sms = 2;
  const auto load = [&](std::uint16_t sm, std::uint64_t line, std::uint8_t sectors) {
    memory::Transaction one;
    one.line = line;
    one.sm = sm;
    one.sectors = sectors;
    one.lanes = 1;
    stream.transactions.push_back(one);
  };
  load(0, 1, 1);  // misses both
  load(1, 1, 1);  // the L2 has it
  load(0, 1, 1);  // hit
  load(0, 1, 3);  // the second sector misses both
  load(1, 2, 4);  // misses both, evicts
  const std::vector<Hierarchy> hierarchies{{cache(1, 1), cache(4, 0), kAround, "lru", L2Feed::Misses}};
  const GridResult grid = cache_grid(stream, hierarchies, nullptr, nullptr);
  const memory::CacheCounts l1{.accesses = 5,
                               .hits = memory::kOne,
                               .sector_misses = 1,
                               .evictions = 1,
                               .sectors_filled = 4,
                               .sectors_written = 0};
  const memory::CacheCounts l2{.accesses = 4,
                               .hits = memory::kOne,
                               .sector_misses = 1,
                               .evictions = 0,
                               .sectors_filled = 3,
                               .sectors_written = 0};
  EXPECT_EQ(grid.counts[0].l1, l1);
  EXPECT_EQ(grid.counts[0].l2, l2);
  EXPECT_EQ(grid.counts[0].dram_read_bytes, 3 * 32U);
  EXPECT_EQ(grid.counts[0].dram_written_bytes, 0U);
}

}  // namespace
}  // namespace rayreplay::experiment
