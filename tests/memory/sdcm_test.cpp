// The stack distance cache model: its formula, its table, and the two faults of published tools.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/caches/stack_distance.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/reuse_streams.hpp"

namespace rayreplay::memory {
namespace {

__extension__ using Integer = unsigned __int128;

/// Exact: Σ C(D,a) A^a (B−A)^(D−a) over B^D, all of which fit.
double exact(std::uint32_t distance, std::uint64_t ways, std::uint64_t lines) {
  const auto power = [](Integer base, std::uint64_t exponent) {
    Integer result = 1;
    for (std::uint64_t i = 0; i < exponent; ++i) {
      result *= base;
    }
    return result;
  };
  Integer sum = 0;
  Integer choose = 1;
  for (std::uint64_t a = 0; a < ways && a <= distance; ++a) {
    sum += choose * power(ways, a) * power(lines - ways, distance - a);
    choose = choose * (distance - a) / (a + 1);
  }
  return static_cast<double>(static_cast<long double>(sum) / static_cast<long double>(power(lines, distance)));
}

TEST(StackDistanceHit, IsTheFormula) {
  for (std::uint64_t lines = 1; lines <= 16; ++lines) {
    for (std::uint64_t ways = 1; ways <= lines; ++ways) {
      const StackDistanceTable table(ways, lines);
      for (std::uint32_t distance = 0; distance <= 25; ++distance) {
        const double expected = exact(distance, ways, lines);
        ASSERT_NEAR(stack_distance_hit(distance, ways, lines), expected, 1e-15)
            << lines << " " << ways << " " << distance;
        ASSERT_NEAR(table.hit(distance), expected * kOne, 1) << lines << " " << ways << " " << distance;
      }
    }
  }
}

TEST(StackDistanceHit, KnowsTheChecksOfTheModel) {
  for (const std::uint64_t lines : {1ULL, 2ULL, 256ULL, 196608ULL}) {
    const StackDistanceTable full(lines, lines);
    EXPECT_EQ(full.hit(static_cast<std::uint32_t>(lines) - 1), kOne);
    EXPECT_EQ(full.hit(static_cast<std::uint32_t>(lines)), 0U);
    EXPECT_EQ(stack_distance_hit(static_cast<std::uint32_t>(lines), lines, lines), 0);
    EXPECT_EQ(full.size(), 0U);
  }
  for (const std::uint32_t distance : {1U, 10U, 256U, 5000U}) {
    EXPECT_NEAR(stack_distance_hit(distance, 1, 256), std::pow(255.0 / 256.0, distance), 1e-14);
    EXPECT_NEAR(StackDistanceTable(1, 256).hit(distance), std::pow(255.0 / 256.0, distance) * kOne, 1);
  }
  EXPECT_EQ(stack_distance_hit(kInfinite, 16, 256), 0);
  EXPECT_EQ(StackDistanceTable(16, 256).hit(kInfinite), 0U);
}

// The published tool's factorials overflow: NaN from 1.8 million lines on.
TEST(StackDistanceHit, HoldsForAnyDistance) {
  const StackDistanceTable l1(64, 256);
  const StackDistanceTable l2(16, 196608);
  for (const std::uint32_t distance : {1'800'000U, 2'000'000U, 100'000'000U, kInfinite - 1, kInfinite}) {
    EXPECT_EQ(stack_distance_hit(distance, 64, 256), 0) << distance;
    EXPECT_EQ(l1.hit(distance), 0U);
    EXPECT_NEAR(stack_distance_hit(distance, 16, 196608), 0, 1e-30);
    EXPECT_EQ(l2.hit(distance), 0U);
  }
  // A cache so large that these distances hit.
  EXPECT_NEAR(stack_distance_hit(1'800'000, 16, 1U << 24U), 1, 1e-9);
  EXPECT_GT(stack_distance_hit(3'000'000'000U, 16, 1ULL << 31U), 0.01);
  EXPECT_LT(stack_distance_hit(3'000'000'000U, 16, 1ULL << 31U), 0.99);
}

// An absolute value in another tool's logarithms makes this 1.
TEST(StackDistanceHit, FallsToNothingFarBehindTheCache) {
  EXPECT_LT(stack_distance_hit(1000, 64, 256), 1e-40);
  EXPECT_GT(stack_distance_hit(1000, 64, 256), 0);
  EXPECT_EQ(StackDistanceTable(64, 256).hit(1000), 0U);
}

TEST(StackDistanceTable, IsTheSlowFormInFixedPointAndFalls) {
  struct Case {
    std::uint64_t ways, lines;
  };
  for (const Case& one : {Case{64, 256}, Case{16, 196608}, Case{1, 4096}, Case{4, 256}, Case{255, 256},
                          Case{98304, 196608}, Case{3, 196608}, Case{12, 12288}, Case{65536, 1U << 20U}}) {
    const StackDistanceTable table(one.ways, one.lines);
    const std::uint64_t end = one.ways + table.size() + 2;
    // Some distances, all of them near the ends.
    const std::uint64_t step = std::max<std::uint64_t>(end * one.ways / 2'000'000, 1);
    for (std::uint64_t distance = 0; distance<end; distance += distance + 40> end ? 1 : step) {
      const auto d = static_cast<std::uint32_t>(distance);
      ASSERT_NEAR(table.hit(d), stack_distance_hit(d, one.ways, one.lines) * kOne, 1)
          << one.ways << " " << one.lines << " " << d;
    }
    for (std::uint32_t d = 1; d < end; ++d) {
      ASSERT_LE(table.hit(d), table.hit(d - 1)) << one.ways << " " << one.lines << " " << d;
    }
    EXPECT_LE(table.hit(static_cast<std::uint32_t>(end)), 0U);
  }
}

/// Hits of each access by a model.
std::vector<std::uint32_t> hits_of(const std::string& model, const CacheGeometry& geometry,
                                   const std::vector<std::uint64_t>& lines) {
  std::vector<std::uint32_t> distances(lines.size());
  ReuseEngines::create("bitmap").model->make()->distances(lines, distances);
  std::vector<LineAccess> accesses;
  accesses.reserve(lines.size());
  for (const std::uint64_t line : lines) {
    accesses.push_back({line, 1, false});
  }
  std::vector<std::uint32_t> hit(lines.size());
  CacheModels::create(model).model->make(geometry)->access(accesses, distances, hit, nullptr);
  return hit;
}

double rate(const std::vector<std::uint32_t>& hits) {
  double sum = 0;
  for (const std::uint32_t hit : hits) {
    sum += hit == kOne ? 1 : hit < kOne ? static_cast<double>(hit) / kOne : 0;
  }
  return sum / static_cast<double>(hits.size());
}

// An analysis makes its L1s on all threads.
TEST(StackDistanceModel, MakesCachesOnSeveralThreads) {
  const auto created = CacheModels::create("sdcm");
  const auto geometry_of = [](std::size_t i) {
    return CacheGeometry{.bytes = (64 + i % 3) * 64 * 128, .line_bytes = 128, .ways = 64, .sector_bytes = 0};
  };
  const std::vector<std::uint32_t> distances = {0, 1000, 4000, 4100, 100000};
  const std::vector<LineAccess> accesses(distances.size());
  const auto hits = [&](const rayreplay::memory::CacheModel& model, std::size_t i) {
    std::vector<std::uint32_t> hit(distances.size());
    model.make(geometry_of(i))->access(accesses, distances, hit, nullptr);
    return hit;
  };
  std::vector<std::vector<std::uint32_t>> expected;
  for (std::size_t i = 0; i < 3; ++i) {
    expected.push_back(hits(*CacheModels::create("sdcm").model, i));
  }
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (std::size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::size_t i = 0; i < 6000; ++i) {
        wrong += hits(*created.model, i + thread) == expected[(i + thread) % 3] ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}

// Access by access, whatever the stream: a fully associative LRU cache hits where D < B.
TEST(StackDistanceModel, IsExactFullyAssociative) {
  for (const rayreplay::test::ReuseStream& stream :
       {rayreplay::test::coherent_stream(60'000, 12, 1), rayreplay::test::incoherent_stream(60'000, 12, 2),
        rayreplay::test::zipf_stream(60'000, 4096, 0.99, 3), rayreplay::test::uniform_stream(60'000, 700, 4)}) {
    for (const std::uint64_t lines : {1U, 16U, 256U, 600U}) {
      const CacheGeometry geometry{.bytes = lines * 128, .line_bytes = 128, .ways = 0, .sector_bytes = 0};
      ASSERT_EQ(hits_of("sdcm", geometry, stream.line), hits_of("lru", geometry, stream.line))
          << stream.name << " " << lines;
    }
  }
}

// Lines that are spread over sets at random, as the model assumes: within two points of the exact cache from 2 ways up,
// within three direct-mapped. Lines of a complete tree in depth-first order are not spread so, and few ways err by
// more than ten points (docs/cache-models.md says why).
TEST(StackDistanceModel, IsCloseWhereLinesAreSpread) {
  const rayreplay::test::ReuseStream spread = rayreplay::test::zipf_stream(200'000, 8192, 0.99, 3);
  const rayreplay::test::ReuseStream tree = rayreplay::test::incoherent_stream(200'000, 14, 2);
  for (const std::uint32_t ways : {1U, 2U, 4U, 8U, 16U, 64U}) {
    const CacheGeometry geometry{
        .bytes = std::uint64_t{1024} * 128, .line_bytes = 128, .ways = ways, .sector_bytes = 0};
    const double exact = rate(hits_of("lru", geometry, spread.line));
    EXPECT_GT(exact, 0.3);
    EXPECT_LT(exact, 0.9);
    EXPECT_NEAR(rate(hits_of("sdcm", geometry, spread.line)), exact, ways == 1 ? 0.03 : 0.02) << ways;
    if (ways <= 4) {
      EXPECT_GT(rate(hits_of("sdcm", geometry, tree.line)), rate(hits_of("lru", geometry, tree.line)) + 0.1) << ways;
    }
  }
}

TEST(StackDistanceModel, GivesEachAccessItsProbability) {
  const CacheModels::Created created = CacheModels::create("sdcm");
  EXPECT_TRUE(created.model->wants_distances());
  EXPECT_FALSE(created.model->exact());
  const CacheGeometry geometry{.bytes = 32768, .line_bytes = 128, .ways = 64, .sector_bytes = 32};
  const std::unique_ptr<Cache> cache = created.model->make(geometry);
  const std::vector<std::uint32_t> distances = {kInfinite, 0, 63, 64, 200, 255, 1000};
  const std::vector<LineAccess> accesses(distances.size());
  std::vector<std::uint32_t> hit(distances.size());
  cache->access(accesses, distances, hit, nullptr);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    EXPECT_NEAR(hit[i], stack_distance_hit(distances[i], 64, 256) * kOne, 1);
    sum += hit[i];
  }
  EXPECT_EQ(cache->counts(), (CacheCounts{.accesses = distances.size(), .hits = sum}));
  rayreplay::test::error_of(ErrorKind::Internal, [&] { cache->access(accesses, {}, hit, nullptr); });
}

}  // namespace
}  // namespace rayreplay::memory
