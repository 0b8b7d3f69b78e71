// Geometries, and the exact caches against their slow twin: every hit, everything that goes down, every count.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/caches/set_index.hpp"
#include "tests/memory/slow_cache.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::memory {
namespace {

using rayreplay::test::error_of;
using test::SlowCache;

CacheGeometry geometry(std::uint64_t lines, std::uint32_t ways, std::uint32_t sectors = 4) {
  return {.bytes = lines * 128, .line_bytes = 128, .ways = ways, .sector_bytes = 128 / sectors};
}

TEST(CacheGeometryText, ParsesWhatItPrints) {
  for (const CacheGeometry& one : {geometry(256, 64), geometry(256, 0), geometry(1, 1, 1),
                                   CacheGeometry{.bytes = 6 << 20, .line_bytes = 32, .ways = 16, .sector_bytes = 0},
                                   CacheGeometry{.bytes = 96, .line_bytes = 32, .ways = 3, .sector_bytes = 8}}) {
    EXPECT_EQ(parse_geometry(to_string(one), geometry(12, 4), "t"), one) << to_string(one);
  }
  EXPECT_EQ(to_string(geometry(256, 64)), "32KiB:line=128,ways=64,sector=32");
  EXPECT_EQ(to_string({.bytes = 6 << 20, .line_bytes = 32, .ways = 16, .sector_bytes = 0}),
            "6MiB:line=32,ways=16,sector=line");
  EXPECT_EQ(to_string({.bytes = 0}), "none");
}

TEST(CacheGeometryText, KeepsWhatIsNotSaid) {
  const CacheGeometry base = geometry(256, 64);
  EXPECT_EQ(parse_geometry("64KiB", base, "t"), geometry(512, 64));
  EXPECT_EQ(parse_geometry("32768B:ways=full", base, "t"), geometry(256, 0));
  EXPECT_EQ(parse_geometry("ways=16,sector=line", base, "t").sector(), 128U);
  EXPECT_EQ(parse_geometry("none", base, "t").bytes, 0U);
  EXPECT_EQ(parse_geometry("0", base, "t").bytes, 0U);
}

TEST(CacheGeometryText, SaysWhatIsWrong) {
  const CacheGeometry base = geometry(256, 64);
  const auto parse = [&](const std::string& text) {
    return error_of(ErrorKind::Usage, [&] { return parse_geometry(text, base, "machine 'x', L1"); });
  };
  EXPECT_EQ(parse("32KiB:lime=64").fix, "did you mean 'line'?");
  EXPECT_EQ(parse("32KiB:line=96").found, "96 bytes");
  EXPECT_EQ(parse("32KiB:line=96").where, "machine 'x', L1");
  EXPECT_EQ(parse("32KiB:line=131072").expected, "a power of two, 4 to 65536");
  EXPECT_EQ(parse("64KiB:line=128,line=64").what, "a key of a cache is given twice");
  EXPECT_EQ(parse("32KiB:ways=48").found, "48 ways, 256 lines");
  EXPECT_EQ(parse("32KiB:sector=8").found, "8 bytes, lines of 128");
  EXPECT_EQ(parse("32KiB:sector=256").found, "256 bytes, lines of 128");
  EXPECT_EQ(parse("32KiB:ways=0").found, "'0'");
  EXPECT_EQ(parse("32KiB:ways=-1").found, "'-1'");
  EXPECT_EQ(parse("32KiB:ways=4294967296").found, "'4294967296'");
  EXPECT_EQ(parse("32KiB:line").found, "''");
  EXPECT_EQ(parse("32KiB:").found, "''");
  EXPECT_EQ(parse("").found, "''");
  EXPECT_EQ(parse("big").found, "'big'");
  EXPECT_EQ(parse("32KB").found, "'32KB'");
  EXPECT_EQ(parse("18446744073709551616").found, "'18446744073709551616'");
  EXPECT_EQ(parse("18446744073709551615MiB").found, "'18446744073709551615MiB'");
  EXPECT_EQ(parse("1000").found, "1000 bytes, lines of 128");
  EXPECT_EQ(parse("262144MiB:ways=full").expected, "less than 2^31");
}

/// Against a search of every number of ways.
TEST(CacheGeometryText, NamesTheNearestLegalWays) {
  for (const std::uint64_t lines : {1U, 2U, 7U, 36U, 64U, 97U, 255U, 1024U}) {
    for (std::uint32_t ways = 1; ways < 2 * lines + 2; ++ways) {
      if (lines % ways == 0) {
        continue;
      }
      std::uint64_t below = ways, above = ways;
      while (lines % below != 0) {
        --below;
      }
      while (above < lines && lines % above != 0) {
        ++above;
      }
      const std::string nearest = ways < lines  ? fmt::format("{} or {} ways", below, above)
                                  : lines == 1U ? "1 way"
                                                : fmt::format("{} ways", lines);
      EXPECT_TRUE(error_of(ErrorKind::Usage, [&] { check(geometry(lines, ways), "t"); })
                      .fix.starts_with("nearest: " + nearest + "; or fully associative"))
          << lines << " lines, " << ways << " ways";
    }
  }
}

TEST(SetIndex, DividesAnyLine) {
  for (const std::uint64_t sets : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{12288},
                                   std::uint64_t{2048}, (std::uint64_t{1} << 31U) - 1}) {
    const SetIndex index(sets);
    std::vector<std::uint64_t> lines = {0, 1, sets - 1, sets, sets + 1, ~std::uint64_t{0}, ~std::uint64_t{0} / sets};
    for (std::uint64_t i = 0; i < 2000; ++i) {
      lines.push_back(split_mix(sets, i) >> (i % 64));
      lines.push_back((split_mix(sets, i) >> (i % 32 + 32)) * sets - i % 2);
    }
    for (const std::uint64_t line : lines) {
      const CachePlace place = index.place(line);
      ASSERT_EQ(place.tag, line / sets) << line << " " << sets;
      ASSERT_EQ(place.set, line % sets);
      ASSERT_EQ(index.line(place.tag, place.set), line);
    }
  }
}

struct Stream {
  const char* name;
  std::function<LineAccess(std::uint64_t)> at;
};

LineAccess random_access(std::uint64_t line, std::uint64_t bits) {
  const auto sectors = static_cast<std::uint8_t>(bits >> 8U & 0xFU);
  return {line, sectors == 0 ? std::uint8_t{1} : sectors, (bits >> 16U) % 4 == 0};
}

std::vector<Stream> streams(const CacheGeometry& cache) {
  const std::uint64_t lines = cache.lines();
  const std::uint64_t sets = cache.sets();
  const std::uint64_t ways = cache.associativity();
  return {
      {"uniform", [=](std::uint64_t i) { return random_access(split_mix(1, i) % (2 * lines + 1), split_mix(2, i)); }},
      {"hot and cold",
       [=](std::uint64_t i) {
         const std::uint64_t draw = split_mix(3, i);
         return random_access(draw % 4 == 0 ? draw >> 8U : draw % (lines / 2 + 1), split_mix(4, i));
       }},
      {"cyclic, one line too many",
       [=](std::uint64_t i) {
         return LineAccess{i % (lines + 1), 0xF, false};
       }},
      {"one set", [=](std::uint64_t i) { return random_access(split_mix(5, i) % (ways + 2) * sets, split_mix(6, i)); }},
      {"the same line", [](std::uint64_t i) { return random_access(7, split_mix(7, i)); }},
      {"stores alone",
       [=](std::uint64_t i) {
         LineAccess access = random_access(split_mix(8, i) % (lines + lines / 2 + 1), split_mix(9, i));
         access.store = true;
         return access;
       }},
      // Tags of 32 bits at first, then longer ones, with the same low bits.
      {"far lines late",
       [=](std::uint64_t i) {
         const std::uint64_t line = split_mix(10, i) % (2 * lines);
         const std::uint64_t far = i < 2000 ? 0 : (split_mix(11, i) % 3 * sets) << (32U + split_mix(11, i) % 8);
         return random_access(line + far, split_mix(12, i));
       }},
      {"just below and above 32 bits of tag",
       [=](std::uint64_t i) {
         return random_access((std::uint64_t{0xFFFF'FFFFU} - 2 + split_mix(13, i) % 4) * sets + split_mix(14, i) % sets,
                              split_mix(13, i));
       }},
  };
}

void compare(const CacheGeometry& cache, const CachePolicy& policy, const Stream& stream, std::uint64_t count,
             std::uint64_t cut) {
  const std::unique_ptr<Cache> fast = make_set_associative(cache, policy);
  SlowCache slow(cache, policy);
  std::vector<LineAccess> accesses(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    accesses[i] = stream.at(i);
  }
  for (std::uint64_t begin = 0; begin < count;) {
    const std::uint64_t size = std::min(count - begin, 1 + split_mix(cut, begin) % 300);
    const std::span<const LineAccess> piece = std::span(accesses).subspan(begin, size);
    std::vector<std::uint32_t> hit(size);
    std::vector<std::uint32_t> expected_hit(size);
    std::vector<DownAccess> down;
    std::vector<DownAccess> expected_down;
    fast->access(piece, {}, hit, &down);
    for (std::uint32_t i = 0; i < size; ++i) {
      expected_hit[i] = slow.access(piece[i], i, expected_down);
    }
    ASSERT_EQ(hit, expected_hit) << stream.name << " at " << begin;
    ASSERT_EQ(down, expected_down) << stream.name << " at " << begin;
    begin += size;
  }
  EXPECT_EQ(fast->counts(), slow.counts()) << stream.name;
}

TEST(ExactCaches, DoAsTheSlowTwin) {
  const std::vector<CacheGeometry> caches = {geometry(1, 1),     geometry(8, 1),   geometry(24, 2),   geometry(12, 4),
                                             geometry(64, 4),    geometry(35, 5),  geometry(24, 8),   geometry(12, 12),
                                             geometry(96, 16),   geometry(51, 17), geometry(64, 64),  geometry(150, 50),
                                             geometry(512, 256), geometry(257, 0), geometry(600, 300)};
  for (const CacheGeometry& cache : caches) {
    for (const Replacement replacement : {Replacement::Lru, Replacement::Fifo, Replacement::Random}) {
      for (const int write : {0, 1, 2, 3}) {
        const CachePolicy policy{replacement, write % 2 == 0, write / 2 == 0, 17};
        for (const Stream& stream : streams(cache)) {
          SCOPED_TRACE(to_string(cache));
          compare(cache, policy, stream, 3000, cache.lines() + static_cast<std::uint64_t>(write));
          if (HasFatalFailure()) {
            return;
          }
        }
      }
    }
  }
}

TEST(ExactCaches, NeedNoDownAndNoCut) {
  const CacheGeometry cache = geometry(96, 16);
  const Stream stream = streams(cache)[0];
  std::vector<LineAccess> accesses(5000);
  for (std::uint64_t i = 0; i < accesses.size(); ++i) {
    accesses[i] = stream.at(i);
  }
  const auto run = [&](std::size_t piece, bool down) {
    const std::unique_ptr<Cache> one = CacheModels::create("lru").model->make(cache);
    std::vector<std::uint32_t> hit(accesses.size());
    std::vector<DownAccess> sent;
    for (std::size_t i = 0; i < accesses.size(); i += piece) {
      const std::size_t size = std::min(piece, accesses.size() - i);
      one->access(std::span(accesses).subspan(i, size), {}, std::span(hit).subspan(i, size), down ? &sent : nullptr);
    }
    return std::pair(hit, one->counts());
  };
  EXPECT_EQ(run(accesses.size(), true), run(1, false));
}

TEST(ExactCaches, ComeFromTheRegistry) {
  const std::vector<LineAccess> accesses = {{0, 1, true}, {0, 1, false}, {1, 1, false}, {2, 1, false}, {0, 1, false}};
  const auto hits = [&](const std::string& spec) {
    std::vector<std::uint32_t> hit(accesses.size());
    CacheModels::create(spec).model->make(geometry(2, 2))->access(accesses, {}, hit, nullptr);
    return hit;
  };
  EXPECT_EQ(hits("lru"), (std::vector<std::uint32_t>{0, kOne, 0, 0, 0}));
  EXPECT_EQ(hits("lru:write=through,allocate=false"), (std::vector<std::uint32_t>{0, 0, 0, 0, 0}));
  EXPECT_EQ(hits("fifo"), hits("lru"));
  EXPECT_EQ(hits("random:seed=1").size(), accesses.size());
  EXPECT_EQ(CacheModels::create("random").spec, "random:write=back,allocate=true,seed=0");
  EXPECT_EQ(error_of(ErrorKind::Usage, [] { return CacheModels::create("plru"); }).fix, "did you mean 'lru'?");
}

TEST(ExactCaches, SpecsResolveToThemselves) {
  for (const char* spec : {"lru", "fifo", "random", "sdcm", "lru:write=through,allocate=false", "fifo:allocate=false",
                           "random:write=through,seed=7"}) {
    const std::string resolved = CacheModels::create(spec).spec;
    EXPECT_EQ(CacheModels::create(resolved).spec, resolved);
  }
  EXPECT_EQ(CacheModels::create("lru").spec, "lru:write=back,allocate=true");
  EXPECT_EQ(CacheModels::create("fifo:write=through").spec, "fifo:write=through,allocate=true");
}

TEST(ExactCaches, RefuseMoreLinesThanTheyCanCount) {
  const CacheGeometry huge{.bytes = std::uint64_t{4} << 30U, .line_bytes = 4, .ways = 0, .sector_bytes = 0};
  EXPECT_EQ(error_of(ErrorKind::Usage, [&] { return CacheModels::create("lru").model->make(huge); }).expected,
            "at most 536870912");
}

/// What an access made of a cache: hit, sector miss or miss, and what went down.
struct Step {
  LineAccess access;
  std::uint32_t hit;
  std::vector<DownAccess> down;
};

void expect_steps(const std::string& spec, const std::vector<Step>& steps) {
  // One line alone, 4 sectors: every other line evicts it.
  const std::unique_ptr<Cache> cache = CacheModels::create(spec).model->make(geometry(1, 1));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    SCOPED_TRACE(spec + ", access " + std::to_string(i));
    std::vector<std::uint32_t> hit(1);
    std::vector<DownAccess> down;
    cache->access(std::span(&steps[i].access, 1), {}, hit, &down);
    EXPECT_EQ(hit[0], steps[i].hit);
    EXPECT_EQ(down, steps[i].down);
  }
}

constexpr bool kLoads = false;
constexpr bool kStores = true;

// The table of docs/cache-models.md, row by row, for each pair of policies.
TEST(StorePolicies, WriteBackAllocate) {
  for (const char* spec : {"lru", "fifo", "random"}) {
    expect_steps(spec, {
                           // Store, no line: takes it, fetches nothing, writes nothing.
                           {{1, 0b0001, kStores}, 0, {}},
                           // A load of the sector stored hits, whatever part of it was written.
                           {{1, 0b0001, kLoads}, kOne, {}},
                           // Store, line there, sector absent: becomes valid and dirty without a fetch.
                           {{1, 0b0010, kStores}, kSectorMiss, {}},
                           {{1, 0b0011, kLoads}, kOne, {}},
                           // Load, line there, sector absent: that sector alone is filled; it is clean.
                           {{1, 0b0110, kLoads}, kSectorMiss, {{1, 0, 0b0100, kLoads}}},
                           {{1, 0b0111, kStores}, kOne, {}},
                           // The dirty sectors of the victim go before the fill of the line that takes its place.
                           {{2, 0b1000, kLoads}, 0, {{1, 0, 0b0111, kStores}, {2, 0, 0b1000, kLoads}}},
                           // A clean victim goes silently.
                           {{3, 0b0001, kLoads}, 0, {{3, 0, 0b0001, kLoads}}},
                       });
  }
}

TEST(StorePolicies, WriteThroughWithoutAllocate) {
  for (const char* write : {"lru", "fifo", "random"}) {
    expect_steps(std::string(write) + ":write=through,allocate=false",
                 {
                     // Store, no line: around the cache, nothing is kept.
                     {{1, 0b0001, kStores}, 0, {{1, 0, 0b0001, kStores}}},
                     {{1, 0b0001, kLoads}, 0, {{1, 0, 0b0001, kLoads}}},
                     // Hit: the sector stays valid, the store goes down too.
                     {{1, 0b0001, kStores}, kOne, {{1, 0, 0b0001, kStores}}},
                     {{1, 0b0001, kLoads}, kOne, {}},
                     // Line there, sector absent: goes down whole, the sector stays absent.
                     {{1, 0b0011, kStores}, kSectorMiss, {{1, 0, 0b0011, kStores}}},
                     {{1, 0b0010, kLoads}, kSectorMiss, {{1, 0, 0b0010, kLoads}}},
                     // Nothing is ever dirty.
                     {{2, 0b0001, kLoads}, 0, {{2, 0, 0b0001, kLoads}}},
                     // A store that misses leaves the line that is there alone.
                     {{1, 0b1111, kStores}, 0, {{1, 0, 0b1111, kStores}}},
                     {{2, 0b0001, kLoads}, kOne, {}},
                 });
  }
}

TEST(StorePolicies, WriteThroughWithAllocate) {
  expect_steps("lru:write=through", {
                                        {{1, 0b0001, kStores}, 0, {{1, 0, 0b0001, kStores}}},
                                        {{1, 0b0001, kLoads}, kOne, {}},
                                        {{1, 0b0011, kStores}, kSectorMiss, {{1, 0, 0b0011, kStores}}},
                                        {{1, 0b0011, kLoads}, kOne, {}},
                                        {{2, 0b0001, kLoads}, 0, {{2, 0, 0b0001, kLoads}}},
                                    });
}

TEST(StorePolicies, WriteBackWithoutAllocate) {
  expect_steps("lru:allocate=false", {
                                         {{1, 0b0001, kStores}, 0, {{1, 0, 0b0001, kStores}}},
                                         {{1, 0b0001, kLoads}, 0, {{1, 0, 0b0001, kLoads}}},
                                         // Sectors that are there stay and are dirty, the others go around.
                                         {{1, 0b0011, kStores}, kSectorMiss, {{1, 0, 0b0010, kStores}}},
                                         {{1, 0b0010, kLoads}, kSectorMiss, {{1, 0, 0b0010, kLoads}}},
                                         {{2, 0b0001, kLoads}, 0, {{1, 0, 0b0001, kStores}, {2, 0, 0b0001, kLoads}}},
                                     });
}

// Belady's anomaly is FIFO's alone: with more ways LRU never hits less.
TEST(ExactCaches, LruIsAStack) {
  const Stream stream = streams(geometry(64, 0))[1];
  std::vector<LineAccess> accesses(20000);
  for (std::uint64_t i = 0; i < accesses.size(); ++i) {
    accesses[i] = stream.at(i);
  }
  std::vector<std::uint32_t> before(accesses.size(), 0);
  for (const std::uint32_t ways : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 256U, 512U}) {
    std::vector<std::uint32_t> hit(accesses.size());
    for (LineAccess& access : accesses) {
      access.sectors = 1;
    }
    make_set_associative(geometry(std::uint64_t{4} * ways, ways), {})->access(accesses, {}, hit, nullptr);
    for (std::size_t i = 0; i < hit.size(); ++i) {
      ASSERT_LE(before[i], hit[i]) << ways;
    }
    before = hit;
  }
}

}  // namespace
}  // namespace rayreplay::memory
