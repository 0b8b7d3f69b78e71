// Analysis against its slow twin, number by number, over streams, geometries, models, feeds and windows; any cut of the
// stream; what it refuses.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "sim/memory/allocations.hpp"
#include "sim/memory/results/line_split.hpp"
#include "sim/memory/reuse/sample_error.hpp"
#include "tests/memory/analysis_cases.hpp"
#include "tests/memory/slow_analysis.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::memory {
namespace {

using rayreplay::test::error_of;
using namespace test;

void compare(const AnalysisOptions& options, const std::vector<TransactionBlock>& blocks) {
  const Outcome fast = run(options, blocks);
  Outcome slow;
  slow.result = test::slow_analysis(options, blocks, slow.elements);
  if (!options.elements) {
    slow.elements.clear();
  }
  expect_equal(fast, slow);
}

TEST(Analysis, DoesAsTheSlowTwin) {
  const Shape shape;
  const std::vector<TransactionBlock> blocks = {random_block(300, shape, 1), {}, random_block(600, shape, 2)};
  const CacheGeometry unsectored{.bytes = std::uint64_t{16} * 128, .line_bytes = 128, .ways = 0, .sector_bytes = 0};
  const CacheGeometry half{.bytes = std::uint64_t{24} * 128, .line_bytes = 128, .ways = 3, .sector_bytes = 64};
  const CacheGeometry fine{.bytes = std::uint64_t{32} * 128, .line_bytes = 128, .ways = 8, .sector_bytes = 16};
  const CacheGeometry none{.bytes = 0};
  const CacheGeometry small_lines{.bytes = std::uint64_t{192} * 32, .line_bytes = 32, .ways = 16, .sector_bytes = 0};
  const CacheGeometry middle_lines{.bytes = std::uint64_t{96} * 64, .line_bytes = 64, .ways = 4, .sector_bytes = 32};
  const CacheGeometry large_lines{.bytes = std::uint64_t{24} * 256, .line_bytes = 256, .ways = 8, .sector_bytes = 32};
  const CacheGeometry huge_lines{.bytes = std::uint64_t{8} * 1024, .line_bytes = 1024, .ways = 0, .sector_bytes = 128};
  const AnalysisOptions base = options_of(shape);
  for (const CacheGeometry& l1 : {base.l1, unsectored, half, fine, none}) {
    for (const CacheGeometry& l2 : {base.l2, small_lines, middle_lines, large_lines, huge_lines, none}) {
      for (const char* l1_model : {"lru:write=through,allocate=false", "lru", "sdcm"}) {
        for (const char* l2_model : {"lru", "fifo:write=through", "sdcm"}) {
          for (const L2Feed feed : {L2Feed::All, L2Feed::Misses}) {
            AnalysisOptions options = base;
            options.l1 = l1;
            options.l2 = l2;
            options.l1_model = l1_model;
            options.l2_model = l2_model;
            options.l2_feed = feed;
            SCOPED_TRACE(to_string(l1) + " " + to_string(l2) + " " + l1_model + " " + l2_model);
            compare(options, blocks);
            if (HasFailure()) {
              return;
            }
          }
        }
      }
    }
  }
}

TEST(Analysis, CutsWindowsWhereTransactionsBegin) {
  const Shape shape;
  const std::vector<TransactionBlock> blocks = {random_block(400, shape, 3), random_block(300, shape, 4)};
  const std::uint64_t first = blocks[0].transactions[0].lanes;
  AnalysisOptions options = options_of(shape);
  for (const auto& limits :
       {std::vector<std::uint64_t>{first}, {first + 1}, {1, 2, 3}, {5000, 5001, 9000}, {1'000'000, 1'000'001}}) {
    options.window_limits = limits;
    compare(options, blocks);
  }
  options.window_limits.clear();
  for (const std::uint64_t every : {1U, 17U, 1000U, 1'000'000U}) {
    options.window_requests = every;
    compare(options, blocks);
  }
}

TEST(Analysis, TakesStreamsOfOneLaneAndOtherSectors) {
  Shape shape;
  shape.most_lanes = 1;
  shape.sectors = 2;
  const std::vector<TransactionBlock> blocks = {random_block(3000, shape, 5)};
  AnalysisOptions options = options_of(shape);
  options.coalescing = {.line_bytes = 64, .sector_bytes = 32, .coalesce = false, .requests = true, .keep_raw = false};
  options.l1 = {.bytes = std::uint64_t{16} * 64, .line_bytes = 64, .ways = 16, .sector_bytes = 8};
  compare(options, blocks);
  options.elements = false;
  options.pixels = 0;
  std::vector<TransactionBlock> bare = blocks;
  bare[0].requests.clear();
  compare(options, bare);
}

TEST(Analysis, DoesNotDependOnCutsOrThreads) {
  const Shape shape{.sms = 7, .lines = 3000};
  const TransactionBlock whole = random_block(150'000, shape, 6);  // more than one chunk
  AnalysisOptions options = options_of(shape);
  options.window_limits = {700'000, 2'000'000};
  std::vector<TransactionBlock> pieces;
  std::size_t request = 0;
  for (std::size_t begin = 0; begin < whole.transactions.size();) {
    const std::size_t size = std::min<std::size_t>(1 + split_mix(7, begin) % 5000, whole.transactions.size() - begin);
    TransactionBlock& piece = pieces.emplace_back();
    for (std::size_t i = begin; i < begin + size; ++i) {
      piece.transactions.push_back(whole.transactions[i]);
      piece.cycles.push_back(whole.cycles[i]);
      for (std::uint32_t lane = 0; lane < whole.transactions[i].lanes; ++lane) {
        piece.requests.push_back(whole.requests[request++]);
      }
    }
    begin += size;
  }
  const Outcome at_once = run(options, {whole});
  expect_equal(at_once, run(options, pieces));
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  expect_equal(at_once, run(options, {whole}));
}

// A stack for each SM, and one for the L2, which gets everything: part by part their sum is the level's.
TEST(Analysis, KeepsThePartsOfSamples) {
  const Shape shape{.sms = 4, .lines = 3000};
  const std::vector<TransactionBlock> blocks = {random_block(20'000, shape, 8), random_block(70'000, shape, 9)};
  AnalysisOptions options = options_of(shape);
  options.reuse_engine = "sampled:rate=0.25,parts=3";
  options.l2_feed = L2Feed::All;
  const ReuseEngines::Created engine = ReuseEngines::create(options.reuse_engine);
  std::array<std::vector<ReuseHistogram>, kLevels> parts;
  for (std::uint32_t sm = 0; sm <= shape.sms; ++sm) {  // the last is the L2
    std::vector<std::uint64_t> lines;
    for (const TransactionBlock& block : blocks) {
      for (const Transaction& transaction : block.transactions) {
        if (transaction.sm == sm || sm == shape.sms) {
          lines.push_back(transaction.line);
        }
      }
    }
    const std::unique_ptr<ReuseStack> stack = engine.model->make();
    std::vector<std::uint32_t> distances(lines.size());
    stack->distances(lines, distances);
    merge_parts(parts[sm == shape.sms ? kL2 : kL1], stack->parts());
  }
  const Outcome made = run(options, blocks);
  for (std::size_t level = 0; level < kLevels; ++level) {
    const LevelResult& found = made.result.levels[level];
    EXPECT_TRUE(found.parts == parts[level]) << level;
    EXPECT_EQ(found.parts.size(), 3U);
    EXPECT_GT(standard_error(found.parts, made.result.reuse_weight, found.geometry.lines()), 0);
  }
  expect_equal(made, [&] {
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    return run(options, blocks);
  }());
  options.reuse_engine = "bitmap";
  EXPECT_TRUE(run(options, blocks).result.levels[kL1].parts.empty());
}

TEST(Analysis, WithoutDistancesLeavesTheSplitOut) {
  const Shape shape;
  const std::vector<TransactionBlock> blocks = {random_block(900, shape, 8)};
  AnalysisOptions options = options_of(shape);
  const Outcome with = run(options, blocks);
  options.distances = false;
  const Outcome without = run(options, blocks);
  EXPECT_EQ(with.result.levels[kL1].counts, without.result.levels[kL1].counts);
  EXPECT_EQ(with.result.levels[kL2].counts, without.result.levels[kL2].counts);
  EXPECT_EQ(without.result.levels[kL1].histogram, ReuseHistogram{});
  EXPECT_EQ(without.result.reuse_engine, "");
  EXPECT_NE(with.result.reuse_engine, "");
  const LevelSums& node = without.result.total.levels[kL1][0];
  EXPECT_GT(node.accesses, 0U);
  EXPECT_EQ(node.cold + node.stored_only + node.new_sectors + node.capacity + node.conflict + node.beyond, 0U);
  options.l1_model = "sdcm";
  EXPECT_EQ(run(options, blocks).result.levels[kL1].histogram, with.result.levels[kL1].histogram);
}

LevelSums sum_of(const KindSums& kinds) {
  LevelSums sum;
  for (const LevelSums& kind : kinds) {
    sum.merge(kind);
  }
  return sum;
}

TEST(Analysis, TrafficByKindIsWhatTheCachesCounted) {
  const Shape shape;
  const std::vector<TransactionBlock> blocks = {random_block(5000, shape, 10)};
  for (const L2Feed feed : {L2Feed::All, L2Feed::Misses}) {
    for (const char* l1_model : {"lru:write=through,allocate=false", "fifo", "random:allocate=false"}) {
      AnalysisOptions options = options_of(shape);
      options.l1_model = l1_model;
      options.l2_feed = feed;
      options.window_requests = 7000;
      const AnalysisResult result = run(options, blocks).result;
      for (std::size_t level = 0; level < kLevels; ++level) {
        SCOPED_TRACE(std::string(l1_model) + " L" + std::to_string(level + 1));
        const LevelSums sum = sum_of(result.total.levels[level]);
        const CacheCounts& counts = result.levels[level].counts;
        EXPECT_GT(sum.filled, 0U);
        EXPECT_GT(sum.written, 0U);
        EXPECT_EQ(sum.filled, counts.sectors_filled * kOneSector);
        EXPECT_EQ(sum.written, counts.sectors_written);
        EXPECT_LT(sum.filled, sum.load_sectors * kOneSector);
        LevelSums sms;
        for (const auto& sm : result.total.sms) {
          sms.merge(sm[level]);
        }
        EXPECT_EQ(sms, sum);
      }
      // The L2's are bytes to and from DRAM.
      const LevelSums lower = sum_of(result.total.levels[kL2]);
      EXPECT_EQ(lower.filled / kOneSector * 32, result.total.dram_read_bytes);
      EXPECT_EQ(lower.written * 32, result.total.dram_write_bytes);
    }
  }
}

// A model of probabilities: a load fetches its sectors with probability 1 − p, a store's all go down. The model's own
// traffic it is, not that of the exact cache that decides what the L2 sees.
TEST(Analysis, TrafficOfProbabilitiesIsExpected) {
  AnalysisOptions options;
  options.l1 = {.bytes = std::uint64_t{4} * 128, .line_bytes = 128, .ways = 2, .sector_bytes = 32};
  options.l2 = {.bytes = std::uint64_t{64} * 32, .line_bytes = 32, .ways = 4};
  options.l1_model = "sdcm";
  options.l2_model = "sdcm";
  TransactionBlock block;
  const auto add = [&](std::uint64_t line, std::uint8_t sectors, bool store, DataKind kind) {
    Transaction one;
    one.line = line;
    one.sectors = sectors;
    one.lanes = 1;
    one.kind = kind;
    one.flags = store ? kStore : 0;
    block.transactions.push_back(one);
  };
  for (const std::uint64_t line : {0U, 1U, 2U, 3U}) {
    add(line, 0b0111, false, DataKind::Node);
  }
  add(0, 0b0011, false, DataKind::Vertex);
  add(1, 0b1111, true, DataKind::Payload);
  Analysis analysis(options);
  analysis.take(block);
  const AnalysisResult result = analysis.finish();
  const KindSums& upper = result.total.levels[kL1];
  const auto of = [](const KindSums& kinds, DataKind kind) { return kinds[static_cast<std::size_t>(kind)]; };
  EXPECT_EQ(of(upper, DataKind::Node).filled, kOneSector * 12);
  // Fewer than 2 of 3 lines in the set of 2: 1/8 + 3/8.
  EXPECT_EQ(of(upper, DataKind::Vertex).hits, kOne / 2);
  EXPECT_EQ(of(upper, DataKind::Vertex).filled, 2 * kOneSector / 2);
  EXPECT_EQ(of(upper, DataKind::Vertex).load_sectors, 2U);
  EXPECT_EQ(of(upper, DataKind::Payload).filled, 0U);
  EXPECT_EQ(of(upper, DataKind::Payload).load_sectors, 0U);
  EXPECT_EQ(of(upper, DataKind::Payload).written, 4U);
  // The exact cache of 2 sets has lines 0 and 2 in one, so that line 0 is a hit: the L2 is not asked.
  EXPECT_EQ(of(result.total.levels[kL2], DataKind::Vertex).accesses, 0U);
  EXPECT_EQ(of(result.total.levels[kL2], DataKind::Payload).written, 4U);
  EXPECT_EQ(sum_of(result.total.levels[kL2]).filled, kOneSector * 12);
  EXPECT_EQ(result.total.dram_write_bytes, 4U * 32);
}

TEST(Analysis, OfNothingIsOneEmptyWindow) {
  const Outcome nothing = run(options_of({}), {});
  ASSERT_EQ(nothing.result.windows.size(), 1U);
  EXPECT_EQ(nothing.result.transactions, 0U);
  EXPECT_EQ(nothing.result.levels[kL1].caches, 0U);
  EXPECT_EQ(nothing.result.levels[kL2].model, "lru:write=back,allocate=true");
}

TEST(Analysis, RefusesWhatDoesNotFit) {
  const auto refused = [](const auto& change) {
    AnalysisOptions options = options_of({});
    change(options);
    return error_of(ErrorKind::Usage, [&] { const Analysis analysis(options); });
  };
  EXPECT_EQ(refused([](AnalysisOptions& o) { o.l1.line_bytes = 64; }).found, "64 bytes");
  EXPECT_EQ(refused([](AnalysisOptions& o) { o.l1.ways = 3; }).where, "L1");
  EXPECT_EQ(refused([](AnalysisOptions& o) { o.l2 = {.bytes = 512, .line_bytes = 16, .ways = 4}; }).expected,
            "at least 32");
  EXPECT_EQ(refused([](AnalysisOptions& o) { o.l1_model = "lur"; }).fix, "did you mean 'lru'?");
  EXPECT_EQ(refused([](AnalysisOptions& o) {
              o.l2_model = "sdcm";
              o.reuse_engine = "sampled";
            }).found,
            "a reuse engine that samples");
  EXPECT_EQ(refused([](AnalysisOptions& o) { o.sms = 0; }).found, "0");
  EXPECT_EQ(refused([](AnalysisOptions& o) { o.window_limits = {4, 4}; }).found, "4 after 4");
  EXPECT_EQ(refused([](AnalysisOptions& o) { o.window_limits = {0}; }).found, "0 after 0");
  EXPECT_EQ(refused([](AnalysisOptions& o) {
              o.window_limits = {1};
              o.window_requests = 1;
            }).found,
            "both");
}

TEST(Analysis, RefusesWhatItCannotSum) {
  const std::vector<TransactionBlock> blocks = {random_block(200, {}, 9)};
  AnalysisOptions options = options_of({});
  options.elements = false;
  options.pixels = 0;
  const std::uint64_t requests = run(options, blocks).result.requests;
  options.most_accesses = requests - 1;
  EXPECT_EQ(error_of(ErrorKind::Resource, [&] { return run(options, blocks); }).found, std::to_string(requests));
  options.l1.bytes = 0;
  options.most_accesses = requests;
  EXPECT_EQ(run(options, blocks).result.requests, requests);
  options.l2.line_bytes = 32;  // up to four accesses a request
  EXPECT_EQ(error_of(ErrorKind::Resource, [&] { return run(options, blocks); }).expected,
            "at most " + std::to_string(requests));

  options = options_of({});
  options.pixels = kMaxPixels + 1;
  EXPECT_EQ(error_of(ErrorKind::Resource, [&] { const Analysis analysis(options); }).found, "268435457");
  options = options_of({});
  options.sms = 65536;
  for (std::uint64_t limit = 1; limit <= 256; ++limit) {
    options.window_limits.push_back(limit);
  }
  EXPECT_EQ(error_of(ErrorKind::Resource, [&] { const Analysis analysis(options); }).found, "257");
}

// A table of four thousand million elements, and lines at the end of the address space.
TEST(Analysis, TakesTheLargestNumbersThereAre) {
  Shape shape;
  shape.most_lanes = 1;
  TransactionBlock block = random_block(500, shape, 11);
  for (std::size_t i = 0; i < block.transactions.size(); ++i) {
    block.transactions[i].line = (std::uint64_t{1} << 57U) - 1 - block.transactions[i].line;
    block.requests[i].element =
        block.requests[i].element == kNoElement ? kNoElement : kNoElement - 1 - static_cast<std::uint32_t>(7 * (i % 9));
  }
  for (const std::uint32_t l2_line : {32U, 128U, 1024U}) {
    for (const char* model : {"lru", "sdcm"}) {
      AnalysisOptions options = options_of(shape);
      options.element_count = kNoElement;
      options.l2 = {.bytes = std::uint64_t{48} * 1024, .line_bytes = l2_line, .ways = 8, .sector_bytes = 0};
      options.l2_model = model;
      options.l2_feed = l2_line == 128 ? L2Feed::All : L2Feed::Misses;
      compare(options, {block});
    }
  }
}

/// Everything drawn at random, and the slow twin says the same.
TEST(Analysis, DoesAsTheSlowTwinForAnyOptions) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    std::uint64_t next = 0;
    const auto draw = [&](std::uint64_t limit) { return split_mix(1000 + seed, next++) % limit; };
    Shape shape;
    shape.sms = static_cast<std::uint32_t>(1 + draw(9));
    shape.lines = 1 + draw(200);
    shape.sectors = 1U << draw(4);
    shape.most_lanes = static_cast<std::uint32_t>(1 + draw(64));
    const auto sector = static_cast<std::uint32_t>(4U << draw(4));
    AnalysisOptions options = options_of(shape);
    options.coalescing = {.line_bytes = sector * shape.sectors,
                          .sector_bytes = sector,
                          .coalesce = true,
                          .requests = true,
                          .keep_raw = false};
    const auto geometry = [&](std::uint32_t line) {
      CacheGeometry made;
      made.line_bytes = line;
      made.ways = static_cast<std::uint32_t>(1 + draw(20));
      made.bytes = std::uint64_t{line} * made.ways * (1 + draw(12));
      made.sector_bytes = std::max(line >> draw(4), 4U);
      made.ways = draw(5) == 0 ? 0 : made.ways;
      made.bytes = draw(6) == 0 ? 0 : made.bytes;
      return made;
    };
    options.l1 = geometry(options.coalescing.line_bytes);
    options.l2 = geometry(std::max(sector << draw(6), sector));
    const std::array<const char*, 7> models = {
        "lru", "lru:write=through", "lru:allocate=false", "lru:write=through,allocate=false", "fifo", "sdcm", "sdcm"};
    options.l1_model = models[draw(models.size())];
    options.l2_model = models[draw(models.size())];
    options.l2_feed = draw(2) == 0 ? L2Feed::All : L2Feed::Misses;
    options.reuse_engine = draw(3) == 0 ? "splay" : "bitmap";
    options.elements = draw(3) != 0;
    options.pixels = draw(3) != 0 ? kPixels : 0;
    if (draw(2) == 0) {
      options.window_requests = draw(2) == 0 ? 0 : 1 + draw(5000);
    } else {
      for (std::uint64_t limit = 1 + draw(3000), i = draw(4); i > 0; --i, limit += 1 + draw(3000)) {
        options.window_limits.push_back(limit);
      }
    }
    std::vector<TransactionBlock> blocks;
    for (std::uint64_t i = 1 + draw(4); i > 0; --i) {
      blocks.push_back(random_block(draw(250), shape, 50'000 + 10 * seed + i));
      // The first line is somewhere, the last one at the end of the address space.
      const std::uint64_t first =
          seed % 3 == 0 ? ~std::uint64_t{0} / options.coalescing.line_bytes - shape.lines - 8 : seed * 12345;
      for (Transaction& one : blocks.back().transactions) {
        one.line += first;
      }
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + to_string(options.l1) + " " + options.l1_model + ", " +
                 to_string(options.l2) + " " + options.l2_model);
    compare(options, blocks);
    if (HasFailure()) {
      return;
    }
  }
}

TEST(Analysis, RefusesStreamsThatBreakTheirContract) {
  const auto broken = [](const auto& change) {
    TransactionBlock block = random_block(200, {}, 9);
    change(block);
    Analysis analysis(options_of({}));
    error_of(ErrorKind::Internal, [&] {
      analysis.take(block);
      static_cast<void>(analysis.finish());
    });
  };
  broken([](TransactionBlock& b) { b.transactions[100].sm = 5; });
  broken([](TransactionBlock& b) { b.transactions[100].lanes = 0; });
  broken([](TransactionBlock& b) { b.transactions[100].lanes = 65; });
  broken([](TransactionBlock& b) { b.transactions[100].line = std::uint64_t{1} << 57U; });
  broken([](TransactionBlock& b) { b.transactions[100].sectors = 0; });
  broken([](TransactionBlock& b) { b.transactions[100].sectors = 16; });
  broken([](TransactionBlock& b) { b.transactions[100].kind = static_cast<DataKind>(kDataKinds); });
  broken([](TransactionBlock& b) { b.requests.pop_back(); });
  broken([](TransactionBlock& b) { b.requests.push_back({}); });
  broken([](TransactionBlock& b) { b.requests.clear(); });
  broken([](TransactionBlock& b) { b.cycles.pop_back(); });
  broken([](TransactionBlock& b) { b.requests[100].element = kElements; });
  broken([](TransactionBlock& b) { b.requests[100].thread = kPixels; });
}

TEST(LineSplit, IsByteByByte) {
  for (const std::uint32_t from : {32U, 128U, 1024U}) {
    for (const std::uint32_t from_sectors : {1U, 2U, 8U}) {
      for (const std::uint32_t to : {32U, 64U, 128U, 4096U}) {
        for (const std::uint32_t to_sectors : {1U, 4U}) {
          const LineSplit split(from, from / from_sectors, to, to / to_sectors);
          for (std::uint64_t line = 0; line < 40; ++line) {
            for (std::uint32_t mask = 1; mask < 1U << from_sectors; ++mask) {
              std::map<std::uint64_t, std::uint8_t> pieces;
              std::uint64_t last = 0;
              split.each(line, static_cast<std::uint8_t>(mask), [&](std::uint64_t to_line, std::uint8_t sectors) {
                EXPECT_GE(to_line, last);
                last = to_line;
                EXPECT_TRUE(pieces.emplace(to_line, sectors).second);
              });
              ASSERT_EQ(pieces, test::slow_split(line, static_cast<std::uint8_t>(mask), from, from / from_sectors, to,
                                                 to / to_sectors));
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace rayreplay::memory
