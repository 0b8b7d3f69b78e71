// Does the event-driven interleaving do what its rules say, transaction by transaction?
#include "sim/machine/interleave.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/interleave/random_cases.hpp"
#include "tests/interleave/slow_interleave.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::machine {
namespace {

using test::KeepingSink;
using test::KeptSource;

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

InterleaveResult compare(const test::InterleaveCase& that, std::uint64_t seed) {
  KeptSource source = test::random_source(that.shape, seed);
  const WorkPlan plan = test::random_plan(source.items(), that.queues, seed + 1);
  test::SlowInterleave slow(source.streams, source.options, plan, that.machine, that.options);
  slow.run();
  KeepingSink sink;
  InterleaveResult fast = interleave(source, plan, that.machine, that.options, sink);
  expect_same(fast, slow.result);
  EXPECT_EQ(sink.all.cycles, slow.all.cycles);
  EXPECT_TRUE(sink.all.transactions == slow.all.transactions);
  EXPECT_TRUE(sink.all.requests == slow.all.requests);
  EXPECT_LE(slow.most_running, that.options.resident_warps);
  return fast;
}

TEST(Interleave, IsWhatTheSlowOneSaysTransactionByTransaction) {
  InterleaveResult seen;  // every outcome is met with somewhere
  for (std::uint64_t seed = 0; seed < 70; ++seed) {
    SCOPED_TRACE(seed);
    const InterleaveResult fast = compare(test::random_case(seed), seed);
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

/// One line of the stream's size, whole.
void shrink_l1(Machine& machine, std::uint32_t line) {
  machine.l1_bytes = machine.l1_line_bytes = machine.l1_sector_bytes = line;
  machine.l1_ways = 1;
}

// Each end of each range, with each warp scheduler.
TEST(Interleave, IsWhatTheSlowOneSaysAtTheEnds) {
  struct End {
    const char* name;
    void (*set)(test::InterleaveCase&);
  };
  const std::vector<End> ends = {
      {"no L1", [](auto& at) { at.machine.l1_bytes = 0; }},
      {"no L2", [](auto& at) { at.machine.l2_bytes = 0; }},
      {"no cache", [](auto& at) { at.machine.l1_bytes = at.machine.l2_bytes = 0; }},
      {"an L1 of one line", [](auto& at) { shrink_l1(at.machine, 32 * at.shape.sectors); }},
      {"an L2 of one line",
       [](auto& at) {
         at.machine.l2_bytes = at.machine.l2_line_bytes;
         at.machine.l2_ways = 1;
       }},
      {"one outstanding miss", [](auto& at) { at.machine.outstanding_misses = 1; }},
      {"one outstanding miss, no L1",
       [](auto& at) {
         at.machine.outstanding_misses = 1;
         at.machine.l1_bytes = 0;
       }},
      {"one slot", [](auto& at) { at.options.resident_warps = 1; }},
      {"latencies of one cycle",
       [](auto& at) {
         at.machine.l1_latency_cycles = at.machine.l2_latency_cycles = at.machine.dram_latency_cycles = 1;
         at.options.compute_cycles = 0;
       }},
      {"the L2 slower than memory",
       [](auto& at) {
         at.machine.l2_latency_cycles = 90;
         at.machine.dram_latency_cycles = 30;
       }},
      {"the L1 slowest", [](auto& at) { at.machine.l1_latency_cycles = 200; }},
      {"stores alone", [](auto& at) { at.shape.stores_of_8 = 8; }},
  };
  for (const End& end : ends) {
    for (const char* scheduler : {"loose-round-robin", "greedy-then-oldest", "random:seed=5"}) {
      for (std::uint64_t seed = 500; seed < 503; ++seed) {
        SCOPED_TRACE(testing::Message() << end.name << ", " << scheduler << ", " << seed);
        test::InterleaveCase that = test::random_case(seed);
        end.set(that);
        that.options.warp_scheduler = scheduler;
        compare(that, seed);
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
    }
  }
}

}  // namespace
}  // namespace rayreplay::machine
