// Writebacks of the L2 in memory time: how many bytes, when, and who waits for them.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/machine/cache_geometry.hpp"
#include "sim/machine/interleave.hpp"
#include "sim/memory/caches/set_associative.hpp"
#include "sim/memory/results/line_split.hpp"
#include "tests/interleave/hand_made.hpp"
#include "tests/interleave/random_work.hpp"
#include "tests/interleave/same_result.hpp"
#include "tests/interleave/slow_interleave.hpp"

namespace rayreplay::machine::writebacks {
namespace {

using test::load;
using test::store;

constexpr double kClock = 1e6;                  // Hz: rates are easily read
constexpr double kWithoutLimit = 1e9 * kClock;  // bytes a second: a sector takes no time
constexpr std::uint64_t kSector = 32;           // bytes

/// No L1; an L2 of so many lines of 128 bytes, in sets of `ways`.
Machine with_l2(std::uint64_t lines, std::uint32_t ways) {
  Machine machine = test::small_machine(1);
  machine.l1_bytes = 0;
  machine.l2_bytes = lines * 128;
  machine.l2_ways = ways;
  machine.clock_mhz = 1;
  machine.l2_bytes_per_second = machine.dram_bytes_per_second = kWithoutLimit;
  machine.l2_latency_cycles = 20;
  machine.dram_latency_cycles = 50;
  machine.outstanding_misses = 1000;
  return machine;
}

/// After a look at its twin.
test::Played played(test::KeptSource source, const Machine& machine, std::uint32_t resident_warps = 1) {
  for (memory::WarpStream& stream : source.streams) {
    stream.work.resize(stream.instructions() + 1);
  }
  const WorkPlan plan = test::plan_of(source.items());
  const InterleaveOptions options{.resident_warps = resident_warps, .work = true, .cycles = true};
  test::SlowQueues queues(plan);
  test::SlowInterleave slow(source.streams, source.options, queues, machine, options);
  slow.run();
  test::Played result = test::play(source, plan, machine, options);
  test::expect_equal(result.result, slow.result);
  return result;
}

/// Each warp stores, or loads, one sector of a line of its own: warp i of line `first` + i.
std::vector<std::vector<test::Step>> own_lines(std::uint64_t count, bool stores, std::uint64_t first = 0) {
  std::vector<std::vector<test::Step>> items;
  for (std::uint64_t line = first; line < first + count; ++line) {
    items.push_back({stores ? store({line}) : load({line})});
  }
  return items;
}

// A stream of stores larger than the L2: all but the last lines are written back, one after the other.
TEST(Writebacks, OfAStreamOfStoresTakeTheBandwidthOfDram) {
  constexpr std::uint64_t kStores = 240;
  for (const std::uint32_t sms : {1U, 2U, 4U}) {
    for (const std::uint64_t lines : {8U, 32U, 240U, 256U}) {
      for (const std::uint32_t ways : {1U, 4U, 0U}) {
        for (const std::uint64_t service : {4U, 7U, 20U}) {  // cycles a sector
          SCOPED_TRACE(testing::Message() << sms << " SMs, " << lines << " lines, " << ways << " ways, " << service);
          Machine machine = with_l2(lines, ways);
          machine.sms = sms;
          machine.dram_bytes_per_second = static_cast<double>(kSector) / static_cast<double>(service) * kClock;
          const InterleaveResult result = played(test::hand_made(own_lines(kStores, true)), machine, 4).result;
          const std::uint64_t written = kStores > lines ? kStores - lines : 0;
          // Store `lines` is the first that evicts.
          EXPECT_EQ(result.cycles, written == 0 ? kStores / sms : lines / sms + written * service);
          EXPECT_EQ(result.time.dram_bytes, written * kSector);
          EXPECT_EQ(result.time.dram_written_bytes, written * kSector);
          EXPECT_EQ(result.time.l2_bytes, kStores * kSector);
          EXPECT_NEAR(result.time.dram_cycles, static_cast<double>(written * service), 1e-3);
          EXPECT_THAT(result.sm_last_cycle, testing::Each(kStores / sms)) << "no warp waits for a writeback";
        }
      }
    }
  }
}

// Loads over an L2 full of dirty lines: each fetches a sector, and so many dirty sectors leave for it.
TEST(Writebacks, ShareTheBandwidthWithFetches) {
  constexpr std::uint64_t kLines = 64, kLoads = 64, kService = 5;
  for (const std::uint32_t dirty : {0U, 1U, 2U, 4U}) {  // sectors of a line
    SCOPED_TRACE(dirty);
    std::vector<std::vector<test::Step>> items;
    for (std::uint64_t line = 0; line < kLines && dirty > 0; ++line) {
      items.push_back({store({{line, (1U << dirty) - 1}})});
    }
    const std::uint64_t stores = items.size();
    for (const auto& item : own_lines(kLoads, false, 1000)) {
      items.push_back(item);
    }
    Machine machine = with_l2(kLines, 0);
    machine.dram_bytes_per_second = static_cast<double>(kSector) / kService * kClock;
    const InterleaveResult result = played(test::hand_made(items), machine, 200).result;
    EXPECT_EQ(result.time.dram_bytes, (kLoads + dirty * kLoads) * kSector);
    EXPECT_EQ(result.time.dram_written_bytes, dirty * kLoads * kSector);
    // The last load waits for all earlier ones and their writebacks. Its own writeback comes after it.
    const std::uint64_t last_begins = stores + (kLoads - 1) * (1 + dirty) * kService;
    EXPECT_EQ(result.sm_last_cycle.at(0), last_begins + 50);
    EXPECT_EQ(result.cycles, last_begins + std::max<std::uint64_t>(50, (1 + dirty) * kService));
  }
}

TEST(Writebacks, ComeAfterTheFetchAndBeforeTheNextOne) {
  Machine machine = with_l2(1, 1);
  machine.dram_bytes_per_second = kSector * kClock / 10;
  // Line 0 has two dirty sectors. The load of line 1 evicts it: DRAM fetches from 2 to 12 and writes from 12 to 32.
  // The load of line 2 evicts a clean line, and waits until 32.
  const test::Played run =
      played(test::hand_made({{store({{0, 0b0011}}), store({{0, 0b0010}}), load({1})}, {load({2})}}), machine, 2);
  EXPECT_THAT(run.issued, testing::ElementsAre(test::Issued{0, 0, 0, 0, 0, test::Outcome::Store},
                                               test::Issued{1, 0, 1, 0, 2, test::Outcome::Dram},
                                               test::Issued{2, 0, 0, 1, 0, test::Outcome::Store},
                                               test::Issued{3, 0, 0, 2, 1, test::Outcome::Dram}));
  EXPECT_EQ(run.result.time.dram_written_bytes, 3 * kSector);
  EXPECT_EQ(run.result.time.dram_bytes, 5 * kSector);
}

TEST(Writebacks, OnlyStoredSectorsAreWrittenAndOnlyOnce) {
  const Machine machine = with_l2(1, 1);
  // Loaded sectors of a dirty line stay clean; a line that comes back is clean; what stays at the end is not written.
  const InterleaveResult result =
      played(test::hand_made({{load({{0, 0b1100}}), store({{0, 0b0001}}), store({{0, 0b0001}}), load({1}),
                               load({{0, 0b0001}}), load({1}), store({{1, 0b1111}})}}),
             machine)
          .result;
  EXPECT_EQ(result.time.dram_written_bytes, kSector);
  EXPECT_EQ(result.time.dram_bytes, (2 + 1 + 1 + 1 + 1) * kSector);
}

TEST(Writebacks, WithoutAnL2StoresAreWhatIsWritten) {
  Machine machine = with_l2(1, 1);
  machine.l2_bytes = 0;
  const InterleaveResult result =
      played(test::hand_made({{store({{0, 0b0111}}), load({0}), store({0})}}), machine).result;
  EXPECT_EQ(result.time.dram_written_bytes, 4 * kSector);
  EXPECT_EQ(result.time.dram_bytes, 5 * kSector);
}

/// DRAM's bytes as the analysed caches count them (docs/cache-models.md), over transactions in the order of issue.
struct DramBytes {
  std::uint64_t read = 0, written = 0;
};
DramBytes of_cache_models(const memory::TransactionBlock& block, const memory::CoalesceOptions& stream,
                          const Machine& machine) {
  const memory::CacheGeometry l1 = l1_geometry(machine), l2 = l2_geometry(machine);
  DramBytes bytes;
  std::vector<std::unique_ptr<memory::Cache>> l1s(machine.sms);
  for (auto& cache : l1s) {
    if (l1.bytes != 0) {
      cache = memory::make_set_associative(l1, {.write_back = false, .allocate = false});
    }
  }
  const auto last = l2.bytes == 0 ? nullptr : memory::make_set_associative(l2, {});
  const auto ask = [](memory::Cache& cache, const memory::LineAccess& access) {
    std::vector<memory::DownAccess> down;
    std::uint32_t hit = 0;
    cache.access({&access, 1}, {}, {&hit, 1}, &down);
    return down;
  };
  const auto dram = [&](std::uint64_t sectors, std::uint64_t sector, bool is_store) {
    (is_store ? bytes.written : bytes.read) += static_cast<std::uint64_t>(std::popcount(sectors)) * sector;
  };
  const auto below = [&](const memory::LineAccess& access, std::uint32_t line, std::uint32_t sector) {
    if (last == nullptr) {
      dram(access.sectors, sector, access.store);
      return;
    }
    const memory::LineSplit split(line, sector, l2.line_bytes, l2.sector());
    split.each(access.line, access.sectors, [&](std::uint64_t number, std::uint8_t sectors) {
      for (const memory::DownAccess& down : ask(*last, {number, sectors, access.store})) {
        dram(down.sectors, l2.sector(), down.store);
      }
    });
  };
  for (const memory::Transaction& transaction : block.transactions) {
    const bool is_store = (transaction.flags & memory::kStore) != 0;
    memory::LineAccess access{transaction.line, transaction.sectors, is_store};
    if (l1.bytes == 0) {
      below(access, stream.line_bytes, stream.sector_bytes);
      continue;
    }
    const memory::LineSplit split(stream.line_bytes, stream.sector_bytes, l1.line_bytes, l1.sector());
    split.each(access.line, access.sectors, [&](std::uint64_t number, std::uint8_t sectors) {
      for (const memory::DownAccess& down : ask(*l1s[transaction.sm], {number, sectors, is_store})) {
        below({down.line, down.sectors, down.store}, l1.line_bytes, l1.sector());
      }
    });
  }
  return bytes;
}

// Memory time and the analysed caches define DRAM's bytes alike: those of the same caches are the same.
TEST(Writebacks, AreThoseOfTheCacheModels) {
  std::uint64_t written = 0, compared = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    test::WorkCase that = test::random_work_case(seed + 20'000);
    Machine& machine = that.base.machine;
    // A store of part of an L1 sector goes down as a whole there, and not here.
    machine.l1_sector_bytes = that.source.options.sector_bytes;
    const WorkPlan plan = test::random_plan(that.source.items(), that.base.queues, seed + 1);
    test::KeepingSink sink;
    const InterleaveResult result = interleave(that.source, plan, machine, that.options(), sink);
    const DramBytes expected = of_cache_models(sink.all, that.source.options, machine);
    EXPECT_EQ(result.time.dram_written_bytes, expected.written);
    EXPECT_EQ(result.time.dram_bytes, expected.read + expected.written);
    written += machine.l2_bytes == 0 ? 0 : expected.written;
    compared += expected.written > 0 ? 1 : 0;
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(compared, 60U);
  EXPECT_GT(written, 100'000U);
}

}  // namespace
}  // namespace rayreplay::machine::writebacks
