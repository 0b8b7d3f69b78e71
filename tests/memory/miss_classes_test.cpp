// The causes of misses: by hand, against caches that exist, and for every rule of stores and sectors. The slow twin is
// in slow_analysis.hpp; distance_parts_test.cpp and analysis_test.cpp compare with it.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/split_mix.hpp"
#include "sim/memory/results/miss_classes.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"
#include "tests/memory/analysis_cases.hpp"
#include "tests/memory/slow_analysis.hpp"
#include "tests/support/captured_streams.hpp"

namespace rayreplay::memory {
namespace {

using namespace test;

constexpr std::uint32_t kLine = 128;
const std::vector<std::string> kStores = {"write=back,allocate=true", "write=through,allocate=true",
                                          "write=back,allocate=false", "write=through,allocate=false"};

CacheGeometry geometry(std::uint64_t lines, std::uint32_t ways, std::uint32_t sector) {
  return {.bytes = lines * kLine, .line_bytes = kLine, .ways = ways, .sector_bytes = sector};
}

LevelSums all_of(const AnalysisResult& result, std::size_t level) {
  LevelSums sum;
  for (const LevelSums& kind : result.total.levels[level]) {
    sum.merge(kind);
  }
  return sum;
}

std::uint64_t misses_of(const LevelSums& sums) {
  return sums.accesses * kOne - sums.hits;
}

void expect_sum(const LevelSums& sums) {
  EXPECT_EQ(sums.cold + sums.stored_only + sums.new_sectors + sums.capacity + sums.conflict, misses_of(sums));
}

/// One cache over accesses: its engine is exact.
std::vector<MissClass> classes_of(const std::string& spec, const CacheGeometry& of,
                                  const std::vector<LineAccess>& accesses) {
  const auto model = CacheModels::create(spec).model;
  const auto stack = ReuseEngines::create("splay").model->make();
  std::vector<std::uint64_t> lines;
  for (const LineAccess& access : accesses) {
    lines.push_back(access.line);
  }
  std::vector<std::uint32_t> distances(lines.size()), hit(lines.size());
  stack->distances(lines, distances);
  model->make(of)->access(accesses, distances, hit, nullptr);
  std::vector<MissClass> classes(lines.size());
  MissClasses(*model, of, false).classify(accesses, distances, hit, classes);
  return classes;
}

using enum MissClass;

// Two lines in all, in sets of one.
TEST(MissClasses, ByHandWhereStoresTakeNoLine) {
  const std::vector<LineAccess> accesses = {
      {0, 1, false},  // first
      {0, 2, false},  // a sector that nobody loaded
      {0, 3, true},   // hit
      {2, 1, false},  // first; evicts line 0 from its set
      {0, 3, false},  // lost to the set: both lines fit; evicts line 2
      {4, 1, true},   // first, not kept
      {4, 1, true},   // not kept before
      {6, 1, true},   // first, not kept: two other lines since line 2, and neither is in a cache
      {2, 1, false},  // lost to the set; evicts line 0
      {4, 1, false},  // not kept before; evicts line 2 here, line 0 of the ideal cache
      {0, 1, false},  // too much for two lines; evicts line 4 here, line 2 of the ideal cache
      {0, 4, true},   // a sector that nobody loaded; a store does not bring it
      {0, 4, false},  // so it is still new
  };
  const std::vector<MissClass> expected = {Cold, NewSectors, Conflict,   Cold,     Conflict,   Cold,      StoredOnly,
                                           Cold, Conflict,   StoredOnly, Capacity, NewSectors, NewSectors};
  EXPECT_EQ(classes_of("lru:write=through,allocate=false", geometry(2, 1, 32), accesses), expected);
  EXPECT_EQ(classes_of("lru:write=back,allocate=false", geometry(2, 1, 32), accesses), expected);
}

TEST(MissClasses, ByHandWhereStoresTakeALine) {
  const std::vector<LineAccess> accesses = {
      {0, 1, true},   // first, kept
      {0, 1, false},  // hit
      {0, 2, true},   // a new sector, kept
      {2, 1, false},  // first; evicts line 0 from its set
      {0, 3, false},  // lost to the set; evicts line 2
      {4, 1, true},   // first; evicts line 0, line 2 of the ideal cache
      {2, 1, false},  // too much for two lines; evicts line 4 here, line 0 of the ideal cache
      {0, 1, false},  // too much for two lines; evicts line 2 here, line 4 of the ideal cache
      {0, 2, false},  // the ideal cache lost it as well, and the real one
      {0, 4, false},  // a sector that nobody accessed
  };
  const std::vector<MissClass> expected = {Cold, Conflict, NewSectors, Cold,     Conflict,
                                           Cold, Capacity, Capacity,   Capacity, NewSectors};
  EXPECT_EQ(classes_of("lru", geometry(2, 1, 32), accesses), expected);
  EXPECT_EQ(classes_of("lru:write=through", geometry(2, 1, 32), accesses), expected);
}

// A hit that a fully associative cache would have missed is no miss of either kind: line 1 has a set of its own.
TEST(MissClasses, HitsBeyondTheIdealCacheAreTold) {
  const std::vector<LineAccess> accesses = {{1, 1, false}, {0, 1, false}, {2, 1, false}, {1, 1, false}};
  for (const std::string& stores : kStores) {
    EXPECT_EQ(classes_of("lru:" + stores, geometry(2, 1, 0), accesses),
              (std::vector<MissClass>{Cold, Cold, Cold, Capacity}));
  }
}

/// Both levels get what `options` say; every level of one model of stores.
void expect_ideal(const std::vector<TransactionBlock>& blocks, AnalysisOptions options, std::uint64_t lines) {
  for (const std::uint32_t sector : {32U, 64U, 128U}) {
    for (const std::string& stores : kStores) {
      options.l1_model = options.l2_model = "lru:" + stores;
      options.l1 = geometry(lines, 0, sector);
      options.l2 = geometry(3 * lines, 0, sector);
      SCOPED_TRACE(options.l1_model + " " + to_string(options.l1));
      const AnalysisResult result = run(options, blocks).result;
      for (std::size_t level = 0; level < kLevels; ++level) {
        const LevelSums sums = all_of(result, level);
        expect_sum(sums);
        EXPECT_EQ(sums.conflict, 0U) << level;
        EXPECT_EQ(sums.beyond, 0U) << level;
        EXPECT_GT(sums.capacity, 0U) << level;
        EXPECT_EQ(sums.stored_only != 0, stores.ends_with("false")) << level;
        EXPECT_EQ(sums.new_sectors != 0, sector != kLine) << level;
      }
    }
  }
}

void expect_infinite(const std::vector<TransactionBlock>& blocks, AnalysisOptions options, std::uint64_t lines) {
  for (const std::uint32_t ways : {16U, 0U}) {
    for (const char* replacement : {"lru", "fifo", "random"}) {
      for (const std::string& stores : kStores) {
        options.l1_model = options.l2_model = std::string(replacement) + ":" + stores;
        options.l1 = options.l2 = geometry(lines, ways, 32);
        SCOPED_TRACE(options.l1_model + " " + to_string(options.l1));
        const AnalysisResult result = run(options, blocks).result;
        for (std::size_t level = 0; level < kLevels; ++level) {
          const LevelSums sums = all_of(result, level);
          expect_sum(sums);
          EXPECT_EQ(sums.capacity + sums.conflict + sums.beyond, 0U) << level;
          EXPECT_GT(sums.hits, 0U) << level;
        }
      }
    }
  }
}

TEST(MissClasses, FullyAssociativeLruHasNoConflicts) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Shape shape{.sms = 3, .lines = 60 * seed};
    expect_ideal({random_block(6000, shape, seed), random_block(500, shape, 100 + seed)}, options_of(shape), 5 * seed);
  }
  // The hash and the log of caches of more than 256 ways, over several chunks.
  const Shape large{.sms = 2, .lines = 6000};
  expect_ideal({random_block(100'000, large, 9)}, options_of(large), 600);
}

/// A launch's warps, one after the other, on 4 SMs in turn.
std::vector<TransactionBlock> captured_blocks(const std::string& trace) {
  const rayreplay::test::CapturedStreams captured = rayreplay::test::captured_streams(trace);
  std::vector<TransactionBlock> blocks(captured.warps.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].transactions = captured.warps[i].transactions;
    for (Transaction& transaction : blocks[i].transactions) {
      transaction.sm = static_cast<std::uint16_t>(i % 4);
    }
  }
  return blocks;
}

TEST(MissClasses, OfACapturedLaunchAreTheCachesOwn) {
  AnalysisOptions options;
  options.sms = 4;
  const std::vector<TransactionBlock> blocks = captured_blocks("bunny");
  expect_ideal(blocks, options, 24);
  expect_infinite(blocks, options, 1U << 16U);
}

TEST(MissClasses, CachesThatHoldEverythingMissNothingTwice) {
  const Shape shape{.sms = 3, .lines = 200};
  expect_infinite({random_block(6000, shape, 4)}, options_of(shape), 3200);
}

// The ideal cache that the classes speak of is one that exists: their sums give its misses, and a simulation too.
TEST(MissClasses, SumsGiveTheMissesOfTheFullyAssociativeCache) {
  const Shape shape{.sms = 3, .lines = 150};
  const std::vector<TransactionBlock> blocks = {random_block(9000, shape, 6)};
  AnalysisOptions options = options_of(shape);
  options.l2_feed = L2Feed::All;  // the same accesses, whatever the L1
  for (const std::string& stores : kStores) {
    options.l1_model = options.l2_model = "lru:" + stores;
    options.l1 = geometry(24, 0, 32);
    options.l2 = geometry(48, 0, 32);
    const AnalysisResult ideal = run(options, blocks).result;
    for (const char* replacement : {"lru:", "fifo:", "random:"}) {
      for (const std::uint32_t ways : {1U, 4U, 0U}) {
        options.l1_model = options.l2_model = replacement + stores;
        options.l1.ways = options.l2.ways = ways;
        SCOPED_TRACE(options.l1_model + " " + to_string(options.l1));
        const AnalysisResult real = run(options, blocks).result;
        for (std::size_t level = 0; level < kLevels; ++level) {
          const LevelSums sums = all_of(real, level);
          const LevelSums other = all_of(ideal, level);
          expect_sum(sums);
          EXPECT_EQ(misses_of(sums) - sums.conflict + sums.beyond, misses_of(other)) << level;
          EXPECT_EQ(sums.cold, other.cold);
          EXPECT_EQ(sums.stored_only, other.stored_only);
          EXPECT_EQ(sums.new_sectors, other.new_sectors);
        }
      }
    }
  }
}

// A sample of all lines: the same classes where stores take lines; else some conflicts appear as capacity misses.
TEST(MissClasses, OfASampleAreThoseOfEstimatedDistances) {
  const Shape shape{.sms = 3, .lines = 150};
  const std::vector<TransactionBlock> blocks = {random_block(9000, shape, 7)};
  for (const std::uint32_t ways : {2U, 0U}) {
    for (const std::string& stores : kStores) {
      AnalysisOptions options = options_of(shape);
      options.l1_model = options.l2_model = "lru:" + stores;
      options.l1 = options.l2 = geometry(24, ways, 32);
      SCOPED_TRACE(options.l1_model + " " + to_string(options.l1));
      const AnalysisResult exact = run(options, blocks).result;
      options.reuse_engine = "sampled:rate=1,parts=0";
      const AnalysisResult whole = run(options, blocks).result;
      options.reuse_engine = "sampled:rate=0.5,parts=0";
      const AnalysisResult half = run(options, blocks).result;
      for (std::size_t level = 0; level < kLevels; ++level) {
        const LevelSums expected = all_of(exact, level);
        const LevelSums found = all_of(whole, level);
        expect_sum(found);
        if (stores.ends_with("true")) {
          expect_equal(found, expected);
        }
        EXPECT_EQ(found.cold, expected.cold);
        EXPECT_EQ(found.stored_only, expected.stored_only);
        EXPECT_EQ(found.new_sectors, expected.new_sectors);
        EXPECT_LE(found.conflict, expected.conflict);
        const LevelSums part = all_of(half, level);
        EXPECT_GT(part.cold, 0U);
        EXPECT_LT(part.cold + part.stored_only + part.new_sectors + part.capacity + part.conflict, misses_of(part));
      }
    }
  }
}

// Random streams of every shape against simulations of the three caches.
TEST(MissClasses, AreThoseOfTheSlowTwin) {
  for (std::uint64_t round = 0; round < 60; ++round) {
    auto draw = [&, next = std::uint64_t{0}](std::uint64_t limit) mutable { return split_mix(round, next++) % limit; };
    const Shape shape{.sms = 1 + static_cast<std::uint32_t>(draw(3)), .lines = 10 + draw(100)};
    const std::vector<TransactionBlock> blocks = {random_block(200 + draw(800), shape, round),
                                                  random_block(draw(300), shape, 1000 + round)};
    AnalysisOptions options = options_of(shape);
    const auto level = [&] {
      const std::uint32_t ways = std::vector<std::uint32_t>{1, 2, 8, 0}[draw(4)];
      return geometry(8 * (1 + draw(5)), ways, 32U << draw(3));
    };
    options.l1 = level();
    options.l2 = level();
    const auto model = [&] { return (draw(3) == 0 ? "fifo:" : "lru:") + kStores[draw(4)]; };
    options.l1_model = draw(8) == 0 ? "sdcm" : model();
    options.l2_model = draw(8) == 0 ? "sdcm" : model();
    options.l2_feed = draw(2) == 0 ? L2Feed::All : L2Feed::Misses;
    SCOPED_TRACE(options.l1_model + " " + to_string(options.l1) + " " + options.l2_model + " " + to_string(options.l2));
    std::vector<std::vector<ElementRow>> rows;
    const AnalysisResult slow = slow_analysis(options, blocks, rows);
    const AnalysisResult fast = run(options, blocks).result;
    expect_equal(fast.total, slow.total);
    for (std::size_t i = 0; i < kLevels; ++i) {
      expect_sum(all_of(fast, i));
    }
    if (HasFailure()) {
      return;
    }
  }
}

}  // namespace
}  // namespace rayreplay::memory
