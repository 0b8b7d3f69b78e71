// All caches of a grid at once against the caches one by one.
#include "sim/memory/caches/lru_grid.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/split_mix.hpp"
#include "tests/memory/slow_cache.hpp"

namespace rayreplay::memory {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t below(std::uint64_t limit) {
    return split_mix(seed_, next_++) % limit;
  }

 private:
  std::uint64_t seed_, next_ = 0;
};

struct Streams {
  std::vector<LineAccess> accesses;
  std::vector<std::uint64_t> begins{0};
};

struct Shape {
  std::uint32_t sectors = 4;  ///< a line
  std::uint64_t lines = 1000;
  std::uint64_t first = 0;
  std::uint64_t stores = 4;   ///< one of so many; 0: none
  bool stores_apart = false;  ///< to lines of their own
  bool whole_lines = false;   ///< every access touches the same sectors
  std::size_t streams = 1;
  std::size_t size = 3000;
};

/// Runs, returns to lines of lately, and jumps.
Streams streams_of(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  Streams streams;
  for (std::size_t s = 0; s < shape.streams; ++s) {
    std::vector<std::uint64_t> lately;
    std::uint64_t line = 0;
    const std::size_t size = shape.size / (s + 1);
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t what = random.below(8);
      if (what < 2) {
        line = random.below(shape.lines);
      } else if (what < 5 && !lately.empty()) {
        line = lately[lately.size() - 1 - random.below(std::min<std::uint64_t>(lately.size(), 40))];
      } else if (what == 5) {
        line = (line + 1) % shape.lines;
      }
      lately.push_back(line);
      const bool store = shape.stores != 0 && random.below(shape.stores) == 0;
      const auto all = static_cast<std::uint8_t>((1U << shape.sectors) - 1);
      std::uint8_t sectors = all;
      if (!shape.whole_lines) {
        sectors = static_cast<std::uint8_t>(random.below(256) & all);
        sectors = sectors == 0 ? std::uint8_t{1} : sectors;
      }
      const std::uint64_t apart = store && shape.stores_apart ? shape.lines : 0;
      streams.accesses.push_back({shape.first + line + apart, sectors, store});
    }
    streams.begins.push_back(streams.accesses.size());
  }
  return streams;
}

CacheGeometry geometry_of(std::uint64_t sets, std::uint64_t ways, std::uint32_t sectors) {
  return {.bytes = sets * ways * 128,
          .line_bytes = 128,
          .ways = static_cast<std::uint32_t>(ways),
          .sector_bytes = 128 / sectors};
}

std::vector<CacheGeometry> grid_of(const std::vector<std::uint64_t>& sets, const std::vector<std::uint64_t>& ways,
                                   std::uint32_t sectors) {
  std::vector<CacheGeometry> geometries;
  for (const std::uint64_t s : sets) {
    for (const std::uint64_t w : ways) {
      geometries.push_back(geometry_of(s, w, sectors));
    }
  }
  return geometries;
}

CacheCounts slow(const Streams& streams, std::size_t stream, const CacheGeometry& geometry, const CachePolicy& policy) {
  test::SlowCache cache(geometry, policy);
  std::vector<DownAccess> down;
  for (std::uint64_t i = streams.begins[stream]; i < streams.begins[stream + 1]; ++i) {
    cache.access(streams.accesses[i], 0, down);
  }
  return cache.counts();
}

std::string text(const CacheCounts& counts) {
  std::string result;
  for (const std::uint64_t one : {counts.accesses, counts.hits / kOne, counts.sector_misses, counts.evictions,
                                  counts.sectors_filled, counts.sectors_written}) {
    result += std::to_string(one) + " ";
  }
  return result;
}

LruGrid same_as_slow(const Streams& streams, const std::vector<CacheGeometry>& geometries, const CachePolicy& policy) {
  LruGrid grid = lru_grid(streams.accesses, streams.begins, geometries, policy, nullptr);
  for (std::size_t c = 0; c < geometries.size(); ++c) {
    for (std::size_t s = 0; s + 1 < streams.begins.size(); ++s) {
      const CacheCounts expected = slow(streams, s, geometries[c], policy);
      EXPECT_EQ(grid.counts[c][s], expected)
          << to_string(geometries[c]) << " sets " << geometries[c].sets() << " stream " << s << ": "
          << text(grid.counts[c][s]) << "not " << text(expected);
    }
  }
  const LruGrid portable = lru_grid(streams.accesses, streams.begins, geometries, policy, nullptr, GridForm::Portable);
  EXPECT_EQ(portable.counts, grid.counts);
  return grid;
}

const std::vector<std::uint64_t> kSets{1, 2, 3, 4, 6, 7, 8, 12, 24, 64, 100, 1024};
const std::vector<std::uint64_t> kWays{1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 33, 64, 65, 130, 254};

constexpr CachePolicy kBack{};
constexpr CachePolicy kThrough{.replacement = Replacement::Lru, .write_back = false, .allocate = true, .seed = 0};
constexpr CachePolicy kAround{.replacement = Replacement::Lru, .write_back = false, .allocate = false, .seed = 0};

TEST(LruGrid, LoadsStoresAndSectorsAreThoseOfTheCachesOneByOne) {
  for (const std::uint32_t sectors : {1U, 4U, 8U}) {
    const Streams streams = streams_of({.sectors = sectors, .streams = 2}, sectors);
    for (const CachePolicy& policy : {kBack, kThrough}) {
      const LruGrid grid = same_as_slow(streams, grid_of(kSets, kWays, sectors), policy);
      EXPECT_EQ(grid.stacked, 2U);
      EXPECT_EQ(grid.passes, 2 * kSets.size());
    }
  }
}

TEST(LruGrid, LoadsAlone) {
  for (const bool whole : {false, true}) {
    const Streams streams = streams_of({.sectors = 4, .stores = 0, .whole_lines = whole}, 7);
    same_as_slow(streams, grid_of(kSets, kWays, 4), kBack);
    same_as_slow(streams, grid_of(kSets, kWays, 4), kAround);
  }
}

TEST(LruGrid, WholeLinesWithStores) {
  same_as_slow(streams_of({.sectors = 1, .whole_lines = true}, 8), grid_of(kSets, kWays, 1), kBack);
  same_as_slow(streams_of({.sectors = 4, .lines = 300, .whole_lines = true}, 9), grid_of(kSets, kWays, 4), kBack);
}

TEST(LruGrid, FullyAssociativeWithManyWays) {
  const std::vector<std::uint64_t> ways{3, 200, 255, 256, 300, 511, 999, 1000, 1001, 5000};
  for (const CachePolicy& policy : {kBack, kThrough}) {
    same_as_slow(streams_of({.sectors = 4, .size = 8000}, 10), grid_of({1}, ways, 4), policy);
    same_as_slow(streams_of({.sectors = 8, .stores = 2, .size = 8000}, 11), grid_of({1}, ways, 8), policy);
  }
  same_as_slow(streams_of({.sectors = 1, .stores = 0, .size = 8000}, 12), grid_of({1, 2}, ways, 1), kAround);
  std::vector<std::uint64_t> many;
  for (std::uint64_t w = 250; w < 850; w += 2) {
    many.push_back(w);
  }
  same_as_slow(streams_of({.sectors = 4, .size = 3000}, 13), grid_of({1}, many, 4), kBack);
}

TEST(LruGrid, ManyWaysInSeveralSetsRunByThemselves) {
  const LruGrid grid = same_as_slow(streams_of({.sectors = 4, .size = 8000}, 14), grid_of({2, 3}, {4, 300}, 4), kBack);
  EXPECT_EQ(grid.passes, 4U);
  EXPECT_EQ(grid.stacked, 1U);
}

TEST(LruGrid, StoresAroundLinesThatNobodyLoadsAreCountedAlone) {
  const Streams apart = streams_of({.sectors = 4, .stores_apart = true, .streams = 3}, 15);
  for (CachePolicy policy : {kAround, kBack}) {
    policy.allocate = false;
    EXPECT_EQ(same_as_slow(apart, grid_of(kSets, {1, 4, 16}, 4), policy).stacked, 3U);
  }
}

TEST(LruGrid, StreamsWithLinesThatAreLoadedAndStoredToRunByThemselves) {
  Streams streams = streams_of({.sectors = 4, .stores_apart = true, .streams = 2}, 16);
  // The second stream stores to a line that it has loaded.
  streams.accesses.push_back({5, 1, false});
  streams.accesses.push_back({5, 3, true});
  streams.accesses.push_back({5, 2, false});
  streams.begins.back() += 3;
  for (CachePolicy policy : {kAround, kBack}) {
    policy.allocate = false;
    const LruGrid grid = same_as_slow(streams, grid_of({1, 2, 5}, {1, 4, 16}, 4), policy);
    EXPECT_EQ(grid.stacked, 1U);
    EXPECT_EQ(grid.passes, 3U + 9U);
  }
}

TEST(LruGrid, LinesFarFromZero) {
  same_as_slow(streams_of({.first = 0x7FFF'0000'1234'5677U / 128}, 17), grid_of(kSets, {1, 4, 16}, 4), kBack);
}

/// Stacks of 32, 64 and 128 lines; lines so far apart that their numbers stand for them, and others.
TEST(LruGrid, StacksOfEverySize) {
  Streams streams = streams_of({.lines = 700, .size = 4000}, 22);
  for (const std::uint64_t apart : {1U, 100000U}) {
    for (LineAccess& access : streams.accesses) {
      access.line *= apart;
    }
    for (const std::uint64_t most : {20U, 50U, 100U}) {
      for (const CachePolicy& policy : {kBack, kThrough}) {
        EXPECT_EQ(same_as_slow(streams, grid_of({1, 2, 3, 37}, {1, most / 2, most}, 4), policy).stacked, 1U);
      }
    }
  }
}

TEST(LruGrid, LinesTooFarApartRunByThemselves) {
  Streams streams = streams_of({.size = 500}, 18);
  streams.accesses.push_back({std::uint64_t{1} << 40U, 1, true});
  ++streams.begins.back();
  EXPECT_EQ(same_as_slow(streams, grid_of({1, 6}, {1, 4, 16}, 4), kBack).stacked, 0U);
}

TEST(LruGrid, FewLinesInManySets) {
  const LruGrid grid = same_as_slow(streams_of({.lines = 40, .size = 500}, 19),
                                    grid_of({16, 64, 1U << 20U, 1U << 22U}, {1, 2, 64}, 4), kBack);
  EXPECT_EQ(grid.stacked, 1U);
}

TEST(LruGrid, NothingAtAll) {
  const std::vector<std::uint64_t> begins{0, 0, 0};
  const LruGrid grid = lru_grid({}, begins, grid_of({1, 2}, {1}, 4), kBack, nullptr);
  for (const std::vector<CacheCounts>& counts : grid.counts) {
    EXPECT_EQ(counts, std::vector<CacheCounts>(2));
  }
  EXPECT_TRUE(lru_grid({}, begins, {}, kBack, nullptr).counts.empty());
}

/// Longer than a batch, so that several are on their way.
TEST(LruGrid, LongStreams) {
  const Streams streams = streams_of({.lines = 5000, .size = 150000}, 20);
  const std::vector<CacheGeometry> geometries = grid_of({1, 16, 48, 96}, {4, 50}, 4);
  for (const CachePolicy& policy : {kBack, kThrough}) {
    const LruGrid grid = lru_grid(streams.accesses, streams.begins, geometries, policy, nullptr);
    std::vector<ExactCache> caches;
    for (const CacheGeometry& one : geometries) {
      caches.push_back({one, policy});
    }
    EXPECT_EQ(grid.counts, exact_counts(streams.accesses, streams.begins, caches, nullptr));
  }
}

/// More than 16 bits tell apart, from some access on.
TEST(LruGrid, ManyLines) {
  for (const bool stores : {true, false}) {
    const Streams streams = streams_of({.lines = 400000, .stores = stores ? 4U : 0U, .size = 250000}, 21);
    std::vector<std::uint64_t> lines;
    for (const LineAccess& access : streams.accesses) {
      lines.push_back(access.line);
    }
    std::sort(lines.begin(), lines.end());
    ASSERT_GT(std::unique(lines.begin(), lines.end()) - lines.begin(), 1 << 16);
    std::vector<CacheGeometry> geometries = grid_of({1, 3, 512}, {2, 30, 60, 120, 254}, 4);
    geometries.push_back(geometry_of(2, 20, 4));
    std::vector<ExactCache> caches;
    for (const CacheGeometry& one : geometries) {
      caches.push_back({one, kBack});
    }
    const ExactCounts expected = exact_counts(streams.accesses, streams.begins, caches, nullptr);
    for (const GridForm form : {best_grid_form(), GridForm::Portable}) {
      EXPECT_EQ(lru_grid(streams.accesses, streams.begins, geometries, kBack, nullptr, form).counts, expected);
    }
  }
}

/// By hand: A B A with one sector each, then the other sector of A, in one set.
TEST(LruGrid, Example) {
  const std::vector<LineAccess> accesses{{10, 1, false}, {11, 1, true}, {10, 1, false}, {10, 2, false}};
  const std::vector<std::uint64_t> begins{0, 4};
  const LruGrid grid = lru_grid(accesses, begins, grid_of({1}, {1, 2}, 2), kBack, nullptr);
  // One way: A fills, B evicts it, A evicts B which is dirty and fills, A's other sector is a sector miss and fills.
  EXPECT_EQ(
      grid.counts[0][0],
      (CacheCounts{
          .accesses = 4, .hits = 0, .sector_misses = 1, .evictions = 2, .sectors_filled = 3, .sectors_written = 1}));
  // Two ways: A is still there.
  EXPECT_EQ(
      grid.counts[1][0],
      (CacheCounts{
          .accesses = 4, .hits = kOne, .sector_misses = 1, .evictions = 0, .sectors_filled = 2, .sectors_written = 0}));
}

TEST(LruGrid, RefusesDifferentLines) {
  const std::vector<std::uint64_t> begins{0};
  std::vector<CacheGeometry> geometries = grid_of({1, 2}, {1}, 4);
  geometries[1].line_bytes = 64;
  EXPECT_THROW((void)lru_grid({}, begins, geometries, kBack, nullptr), Error);
}

}  // namespace
}  // namespace rayreplay::memory
