// Hits of many LRU caches, on a device and on the processor, against exact caches that run one by one.
#include "sim/memory/caches/lru_hits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/accelerator.hpp"
#include "kernels/twins.hpp"
#include "sim/memory/caches/set_associative.hpp"
#include "tests/memory/slow_cache.hpp"
#include "tests/support/accelerator.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/reuse_captured.hpp"
#include "tests/support/reuse_streams.hpp"

namespace rayreplay::memory {
namespace {

using Lines = std::vector<std::uint64_t>;
using Streams = std::vector<Lines>;
using Configurations = std::vector<LruConfiguration>;
using rayreplay::test::open_accelerator;
using rayreplay::test::random_lines;
using rayreplay::test::shared_accelerator;
using ::testing::HasSubstr;

/// An exact cache for itself; stores allocate, write through or back.
std::uint64_t one_cache(const Lines& lines, const LruConfiguration& configuration) {
  const CacheGeometry geometry{.bytes = configuration.sets * configuration.ways * 128,
                               .line_bytes = 128,
                               .ways = static_cast<std::uint32_t>(configuration.ways),
                               .sector_bytes = 0};
  const bool write_back = configuration.sets % 2 == 0;
  const auto cache = make_set_associative(geometry, {.write_back = write_back, .allocate = true});
  std::vector<LineAccess> accesses;
  for (const std::uint64_t line : lines) {
    accesses.push_back({line, 1, accesses.size() % 5 == 0});
  }
  std::vector<std::uint32_t> hit(lines.size());
  cache->access(accesses, {}, hit, nullptr);
  return cache->counts().hits / kOne;
}

void expect_hits(const Streams& streams, const Configurations& configurations, Accelerator& on = shared_accelerator()) {
  Lines lines;
  std::vector<std::uint64_t> begins{0};
  for (const Lines& stream : streams) {
    lines.insert(lines.end(), stream.begin(), stream.end());
    begins.push_back(lines.size());
  }
  const LruHits found = lru_hits(lines, begins, configurations, &on);
  const LruHits twin = lru_hits(lines, begins, configurations, nullptr);
  EXPECT_EQ(found, twin);
  ASSERT_EQ(twin.size(), configurations.size());
  for (std::size_t c = 0; c < configurations.size(); ++c) {
    ASSERT_EQ(twin[c].size(), streams.size());
    for (std::size_t s = 0; s < streams.size(); ++s) {
      EXPECT_EQ(twin[c][s], one_cache(streams[s], configurations[c]))
          << configurations[c].sets << " sets, " << configurations[c].ways << " ways, stream " << s;
    }
  }
}

Configurations all_of(const std::vector<std::uint64_t>& sets, const std::vector<std::uint64_t>& ways) {
  Configurations result;
  for (const std::uint64_t s : sets) {
    for (const std::uint64_t w : ways) {
      result.push_back({s, w});
    }
  }
  return result;
}

TEST(LruHits, OneStream) {
  expect_hits({random_lines(6000, 700, 1)}, all_of({1, 2, 3, 7, 16, 64, 100, 1024}, {1, 2, 3, 8, 16, 64, 65, 200}));
  expect_hits({random_lines(20000, 300, 2)}, all_of({1, 4, 5}, {1, 30, 400}));
}

TEST(LruHits, AgainstTheSlowCache) {
  const Lines lines = random_lines(800, 60, 3);
  for (const LruConfiguration& one : all_of({1, 3, 4}, {1, 2, 5})) {
    const CacheGeometry geometry{.bytes = one.sets * one.ways * 128,
                                 .line_bytes = 128,
                                 .ways = static_cast<std::uint32_t>(one.ways),
                                 .sector_bytes = 0};
    EXPECT_EQ(lru_configuration(geometry), one);
    test::SlowCache slow(geometry, {});
    std::vector<DownAccess> down;
    for (const std::uint64_t line : lines) {
      slow.access({line, 1, false}, 0, down);
    }
    EXPECT_EQ(lru_hits(lines, std::vector<std::uint64_t>{0, lines.size()}, Configurations{one}, &shared_accelerator()),
              (LruHits{{slow.counts().hits / kOne}}));
  }
}

TEST(LruHits, ManyStreams) {
  rayreplay::test::StreamRandom random(4);
  for (const std::size_t count : {2U, 80U, 300U}) {
    SCOPED_TRACE(count);
    Streams streams(count);
    for (std::size_t s = 0; s < count; ++s) {
      streams[s] = random_lines(random.below(3) == 0 ? 0 : random.below(20000 / count + 3), 1 + random.below(400), s);
    }
    expect_hits(streams, all_of({1, 8, 12}, {1, 4, 70}));
    streams.front() = {};
    streams.back() = random_lines(3000, 100, 77);
    expect_hits(streams, all_of({64}, {2}));
  }
  expect_hits(Streams(3), all_of({1, 4}, {1, 2}));
  expect_hits({{}, {5}, {}}, all_of({1, 4}, {1, 2}));
  expect_hits({{1, 2, 1}}, {});
}

TEST(LruHits, ExtremesOfLines) {
  constexpr std::uint64_t kLast = ~std::uint64_t{0};
  const Configurations some = all_of({1, 6, 16}, {1, 3, 16});
  Lines distinct(3000);
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    distinct[i] = i;
  }
  expect_hits({distinct}, some);
  expect_hits({Lines(3000, 9)}, some);
  expect_hits({random_lines(3000, 200, 1, kLast - 200)}, some);  // line numbers up to 2^64 − 2: one that no line has
  expect_hits({random_lines(3000, 200, 2, 5, std::uint64_t{1} << 55U)}, some);
  expect_hits({random_lines(3000, 200, 3, 1, 0x100000001U)}, some);
  expect_hits({random_lines(3000, 2, 4, 0xFFFFFFFFU)}, some);
}

TEST(LruHits, MoreWaysThanAPassCounts) {
  Configurations many;
  for (std::uint64_t ways = 1; ways <= 150; ++ways) {
    many.push_back({3, ways % 2 == 0 ? ways : 151 - ways});  // in no order
  }
  many.push_back(many.front());
  expect_hits({random_lines(3000, 500, 5), random_lines(1000, 500, 6)}, many);
}

TEST(LruHits, StreamsOfTraversalsAndCapturedLaunches) {
  const rayreplay::test::ReuseStream stream = rayreplay::test::incoherent_stream(40000, 12, 2);
  Streams streams(80);
  for (std::size_t i = 0; i < stream.line.size(); ++i) {
    streams[stream.sm[i]].push_back(stream.line[i]);
  }
  expect_hits(streams, all_of({4, 32}, {2, 16}));
  const auto captured = rayreplay::test::captured_lines({"bunny", "wide-8", true, 128});
  expect_hits(captured.l1, all_of({1, 4, 64}, {4, 64, 256}));
  expect_hits({captured.l2}, all_of({128}, {16}));
}

TEST(LruHits, SeveralDevicesAndBatches) {
  const auto two = open_accelerator(2, true);
  const Streams streams{random_lines(2500, 90, 1), random_lines(3000, 400, 2), {}, random_lines(1500, 30, 3)};
  expect_hits(streams, all_of({1, 2, 8}, {1, 5}), *two);
  kernels::DeviceOptions options;
  options.memory_limit = std::uint64_t{24} << 20U;
  const auto small = open_accelerator(1, true, options);
  expect_hits({random_lines(150000, 900, 5), random_lines(250000, 500, 6), random_lines(200000, 100, 7)},
              all_of({1, 8}, {4}), *small);
  EXPECT_LE(kernels::devices_of(*small)[0]->peak_bytes(), options.memory_limit);
  Lines long_one = random_lines(2000000, 5, 8);
  EXPECT_THROW((void)lru_hits(long_one, std::vector<std::uint64_t>{0, long_one.size()}, all_of({2}, {2}), small.get()),
               DeviceError);
}

TEST(LruHits, TheProcessorTakesOver) {
  kernels::DeviceOptions options;
  options.lose_at_submission = 1;
  const auto losing = open_accelerator(1, false, options);
  expect_hits({random_lines(2500, 90, 1)}, all_of({1, 8}, {4}), *losing);
  EXPECT_EQ(losing->records().back().device, "CPU");
}

TEST(LruHits, RefusesWhatCannotBe) {
  const Lines lines{1, 2};
  const std::vector<std::uint64_t> begins{0, 2};
  for (const LruConfiguration& one :
       Configurations{{0, 1}, {1, 0}, {std::uint64_t{1} << 31U, 1}, {1, std::uint64_t{1} << 31U}}) {
    const ErrorInfo error = rayreplay::test::error_of(
        ErrorKind::Usage, [&] { return lru_hits(lines, begins, Configurations{one}, nullptr); });
    EXPECT_THAT(error.expected, HasSubstr("2^31"));
  }
  EXPECT_THROW((void)lru_hits(lines, std::vector<std::uint64_t>{0, 1}, {}, nullptr), Error);
}

}  // namespace
}  // namespace rayreplay::memory
