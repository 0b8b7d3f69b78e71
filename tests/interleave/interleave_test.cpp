// Does the event-driven interleaving do what its rules say, transaction by transaction?
#include "sim/machine/interleave.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/interleave/random_source.hpp"
#include "tests/interleave/slow_interleave.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::machine {
namespace {

using test::KeepingSink;
using test::KeptSource;

Machine small_machine(std::uint32_t sms) {
  Machine machine;
  machine.sms = sms;
  machine.l1_bytes = 8 * 128;
  machine.l1_ways = 2;
  machine.l2_bytes = 32 * 128;
  machine.l2_ways = 4;
  machine.l1_latency_cycles = 5;
  machine.l2_latency_cycles = 17;
  machine.dram_latency_cycles = 61;
  machine.outstanding_misses = 8;
  return machine;
}

struct Case {
  test::SourceShape shape;
  Machine machine;
  InterleaveOptions options;
  std::uint32_t queues = 1;
};

/// Every rule is met with somewhere: tiny caches, few misses, one slot or many, no L1, other sectors and lines.
Case random_case(std::uint64_t seed) {
  test::Draws draw(seed * 977);
  Case result;
  result.machine = small_machine(1 + draw.upto(draw.upto(3) == 0 ? 69 : 5));
  Machine& machine = result.machine;
  result.shape.items = draw.upto(draw.upto(3) == 0 ? 400 : 60);
  result.shape.most_instructions = 1 + draw.upto(30);
  result.shape.most_transactions = 1 + draw.upto(6);
  result.shape.lines = 1 + draw.upto(draw.upto(1) == 0 ? 20 : 300);
  result.shape.stores_of_8 = draw.upto(4);
  result.shape.sectors = 1U << (1 + draw.upto(2));  // lines of 64, 128, 256
  const std::uint32_t line = 32 * result.shape.sectors;
  machine.l1_line_bytes = line;
  machine.l1_sector_bytes = line >> draw.upto(result.shape.sectors == 8 ? 3 : result.shape.sectors == 4 ? 2 : 1);
  const std::uint32_t l1_sets[] = {1, 2, 3, 8};
  machine.l1_ways = 1 + draw.upto(4);
  machine.l1_bytes = draw.upto(5) == 0 ? 0 : std::uint64_t{line} * machine.l1_ways * l1_sets[draw.upto(3)];
  if (draw.upto(5) == 0) {
    machine.l1_ways = 0;
  }
  machine.l2_line_bytes = 32U << draw.upto(5);  // 32 … 1024
  machine.l2_sector_bytes = machine.l2_line_bytes >> draw.upto(3);
  machine.l2_ways = 1 + draw.upto(8);
  machine.l2_bytes = std::uint64_t{machine.l2_line_bytes} * machine.l2_ways * (1 + draw.upto(8));
  machine.l1_latency_cycles = 1 + draw.upto(10);
  machine.l2_latency_cycles = 1 + draw.upto(40);
  machine.dram_latency_cycles = 1 + draw.upto(150);
  machine.outstanding_misses = 1 + draw.upto(draw.upto(1) == 0 ? 2 : 40);
  const char* schedulers[] = {"loose-round-robin", "greedy-then-oldest", "random:seed=5"};
  result.options.warp_scheduler = schedulers[draw.upto(2)];
  const std::uint32_t residents[] = {1, 2, 5, 31, 64, 65, 130};
  result.options.resident_warps = residents[draw.upto(6)];
  result.options.compute_cycles = draw.upto(2) == 0 ? draw.upto(200) : 0;
  result.options.cycles = true;
  result.queues = draw.upto(1) == 0 ? 1 : machine.sms;
  return result;
}

void expect_same(const InterleaveResult& fast, const InterleaveResult& slow) {
  EXPECT_EQ(fast.cycles, slow.cycles);
  EXPECT_EQ(fast.instructions, slow.instructions);
  EXPECT_EQ(fast.transactions, slow.transactions);
  EXPECT_EQ(fast.items, slow.items);
  EXPECT_EQ(fast.l1_hits, slow.l1_hits);
  EXPECT_EQ(fast.merged, slow.merged);
  EXPECT_EQ(fast.l2_hits, slow.l2_hits);
  EXPECT_EQ(fast.dram, slow.dram);
  EXPECT_EQ(fast.sm_instructions, slow.sm_instructions);
  EXPECT_EQ(fast.sm_last_cycle, slow.sm_last_cycle);
  EXPECT_EQ(fast.stalled_cycles, slow.stalled_cycles);
}

TEST(Interleave, IsWhatTheSlowOneSaysTransactionByTransaction) {
  InterleaveResult seen;  // every outcome is met with somewhere
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const Case that = random_case(seed);
    KeptSource source = test::random_source(that.shape, seed);
    const WorkPlan plan = test::random_plan(source.items(), that.queues, seed + 1);
    test::SlowInterleave slow(source.streams, source.options, plan, that.machine, that.options);
    slow.run();
    KeepingSink sink;
    const InterleaveResult fast = interleave(source, plan, that.machine, that.options, sink);
    ASSERT_NO_FATAL_FAILURE(expect_same(fast, slow.result));
    ASSERT_EQ(sink.all.cycles, slow.all.cycles);
    ASSERT_EQ(sink.all.transactions, slow.all.transactions);
    ASSERT_EQ(sink.all.requests, slow.all.requests);
    ASSERT_LE(slow.most_running, that.options.resident_warps);
    ASSERT_FALSE(::testing::Test::HasFailure());
    seen.l1_hits += fast.l1_hits;
    seen.merged += fast.merged;
    seen.l2_hits += fast.l2_hits;
    seen.dram += fast.dram;
    seen.stalled_cycles += fast.stalled_cycles;
  }
  EXPECT_GT(seen.l1_hits, 1000U);
  EXPECT_GT(seen.merged, 1000U);
  EXPECT_GT(seen.l2_hits, 1000U);
  EXPECT_GT(seen.dram, 1000U);
  EXPECT_GT(seen.stalled_cycles, 1000U);
}

}  // namespace
}  // namespace rayreplay::machine
