// Counts of exact caches with sectors and stores, on a device and on the processor, against the slow cache.
#include "sim/memory/caches/exact_counts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/split_mix.hpp"
#include "kernels/accelerator.hpp"
#include "tests/memory/slow_cache.hpp"
#include "tests/support/accelerator.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/reuse_captured.hpp"

namespace rayreplay::memory {
namespace {

using Accesses = std::vector<LineAccess>;
using Streams = std::vector<Accesses>;
using Caches = std::vector<ExactCache>;
using rayreplay::test::open_accelerator;
using rayreplay::test::shared_accelerator;
using ::testing::HasSubstr;

Accesses random_accesses(std::size_t size, std::uint64_t lines, std::uint64_t seed, std::uint64_t first = 0,
                         std::uint64_t step = 1) {
  Accesses result(size);
  std::uint64_t next = 0;
  const auto draw = [&](std::uint64_t limit) { return split_mix(seed, next++) % limit; };
  for (LineAccess& access : result) {
    access.line = first + step * draw(lines);
    access.sectors = static_cast<std::uint8_t>(1 + draw(15));
    access.store = draw(3) == 0;
  }
  return result;
}

ExactCache cache_of(std::uint64_t sets, std::uint64_t ways, bool write_back, bool allocate) {
  return {.geometry = {.bytes = sets * ways * 128,
                       .line_bytes = 128,
                       .ways = static_cast<std::uint32_t>(ways),
                       .sector_bytes = 32},
          .policy = {.replacement = Replacement::Lru, .write_back = write_back, .allocate = allocate, .seed = 0}};
}

/// Every way to write.
Caches all_of(const std::vector<std::uint64_t>& sets, const std::vector<std::uint64_t>& ways) {
  Caches result;
  for (const std::uint64_t w : ways) {
    for (const std::uint64_t s : sets) {
      for (const bool write_back : {false, true}) {
        for (const bool allocate : {false, true}) {
          result.push_back(cache_of(s, w, write_back, allocate));
        }
      }
    }
  }
  return result;
}

CacheCounts slow_counts(const Accesses& accesses, const ExactCache& one) {
  test::SlowCache cache(one.geometry, one.policy);
  std::vector<DownAccess> down;
  for (const LineAccess& access : accesses) {
    cache.access(access, 0, down);
    down.clear();
  }
  return cache.counts();
}

void expect_counts(const Streams& streams, const Caches& caches, Accelerator& on = shared_accelerator(),
                   bool slow = true) {
  Accesses accesses;
  std::vector<std::uint64_t> begins{0};
  for (const Accesses& stream : streams) {
    accesses.insert(accesses.end(), stream.begin(), stream.end());
    begins.push_back(accesses.size());
  }
  const ExactCounts found = exact_counts(accesses, begins, caches, &on);
  EXPECT_TRUE(found == exact_counts(accesses, begins, caches, nullptr));
  ASSERT_EQ(found.size(), caches.size());
  for (std::size_t c = 0; slow && c < caches.size(); ++c) {
    SCOPED_TRACE(to_string(caches[c].geometry) + (caches[c].policy.write_back ? " back" : " through") +
                 (caches[c].policy.allocate ? " allocate" : ""));
    ASSERT_EQ(found[c].size(), streams.size());
    for (std::size_t s = 0; s < streams.size(); ++s) {
      const CacheCounts expected = slow_counts(streams[s], caches[c]);
      EXPECT_EQ(found[c][s].accesses, expected.accesses);
      EXPECT_EQ(found[c][s].hits, expected.hits);
      EXPECT_EQ(found[c][s].sector_misses, expected.sector_misses);
      EXPECT_EQ(found[c][s].evictions, expected.evictions);
      EXPECT_EQ(found[c][s].sectors_filled, expected.sectors_filled);
      EXPECT_EQ(found[c][s].sectors_written, expected.sectors_written);
    }
  }
}

TEST(ExactCounts, OneStream) {
  expect_counts({random_accesses(3000, 200, 1)}, all_of({1, 3, 16, 64}, {1, 2, 7, 8, 9, 16, 64}));
}

TEST(ExactCounts, ManyStreams) {
  for (const std::size_t count : {2U, 40U, 150U}) {
    Streams streams(count);
    for (std::size_t s = 0; s < count; ++s) {
      streams[s] = random_accesses(s % 3 == 1 ? 0 : 9000 / count + s % 7, 10 + s % 90, s);
    }
    expect_counts(streams, all_of({1, 12}, {4}));
  }
  expect_counts(Streams(3), all_of({4}, {2}));
  expect_counts({{}, {{7, 1, true}}, {}}, all_of({4}, {2}));
  expect_counts({random_accesses(10, 3, 1)}, {});
}

TEST(ExactCounts, SetsGoOnWhereALaunchEnded) {
  expect_counts({random_accesses(150000, 30, 2), random_accesses(66000, 30, 3)}, all_of({1}, {5, 16}));
}

TEST(ExactCounts, ExtremesOfLines) {
  const Caches some = all_of({1, 6}, {3});
  constexpr std::uint64_t kLast = ~std::uint64_t{0};
  expect_counts({random_accesses(2000, 50, 1, kLast - 50)}, some);
  expect_counts({random_accesses(2000, 50, 2, 5, std::uint64_t{1} << 55U)}, some);
  expect_counts({random_accesses(2000, 50, 3, 1, 0x100000001U)}, some);
  expect_counts({Accesses(2000, {9, 3, true})}, some);
}

TEST(ExactCounts, CapturedLaunches) {
  const auto captured = rayreplay::test::captured_lines({"teapot-alpha", "binary", true, 128});
  Streams streams;
  for (const auto& lines : captured.l1) {
    Accesses& stream = streams.emplace_back();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      stream.push_back({lines[i], static_cast<std::uint8_t>(1U << (split_mix(1, i) % 4)), i % 11 == 0});
    }
  }
  expect_counts(streams, all_of({16}, {4}));
}

TEST(ExactCounts, WhatHasNoKernelRunsOnTheProcessor) {
  const auto here = open_accelerator();
  Caches caches = all_of({4}, {2, 4096});
  caches.push_back(caches.front());
  caches.back().policy.replacement = Replacement::Fifo;
  expect_counts({random_accesses(3000, 70, 4)}, caches, *here, false);
  ASSERT_EQ(here->records().size(), 2U);
  EXPECT_NE(here->records()[0].device, "CPU");
  EXPECT_EQ(here->records()[1].device, "CPU");
  EXPECT_THAT(here->records()[1].reason, HasSubstr("no kernel"));
}

TEST(ExactCounts, SeveralDevicesAndNone) {
  const auto two = open_accelerator(2, true);
  expect_counts({random_accesses(2000, 90, 1), random_accesses(1000, 20, 2)}, all_of({1, 8}, {4}), *two);
  kernels::DeviceOptions options;
  options.lose_at_submission = 2;
  const auto losing = open_accelerator(1, false, options);
  expect_counts({random_accesses(2000, 90, 1)}, all_of({1, 8}, {4}), *losing);
  EXPECT_EQ(losing->records().back().device, "CPU");
}

TEST(ExactCounts, RefusesWhatCannotBe) {
  const Accesses accesses(2);
  const std::vector<std::uint64_t> begins{0, 2};
  Caches caches{cache_of(4, 2, true, true), cache_of(4, 2, true, true)};
  caches[1].geometry.sector_bytes = 64;
  const ErrorInfo error =
      rayreplay::test::error_of(ErrorKind::Usage, [&] { return exact_counts(accesses, begins, caches, nullptr); });
  EXPECT_THAT(error.what, HasSubstr("sectors"));
  caches.resize(1);
  caches[0].geometry.bytes = 0;
  EXPECT_THROW((void)exact_counts(accesses, begins, caches, nullptr), Error);
  EXPECT_THROW((void)exact_counts(accesses, std::vector<std::uint64_t>{0, 1}, {}, nullptr), Error);
}

}  // namespace
}  // namespace rayreplay::memory
