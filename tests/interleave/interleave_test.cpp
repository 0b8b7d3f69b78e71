// Does the event-driven interleaving do what its rules say, transaction by transaction?
#include "sim/machine/interleave.hpp"

#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/interleave/random_cases.hpp"
#include "tests/interleave/same_result.hpp"
#include "tests/interleave/slow_interleave.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::machine {
namespace {

using test::expect_same;
using test::KeepingSink;
using test::KeptSource;

InterleaveResult compare(const test::InterleaveCase& that, KeptSource& source, Dispatcher& dispatcher,
                         test::SlowDispatch& slow_dispatch) {
  test::SlowInterleave slow(source.streams, source.options, slow_dispatch, that.machine, that.options);
  slow.run();
  KeepingSink sink;
  InterleaveResult fast = interleave(source, dispatcher, that.machine, that.options, sink);
  expect_same(fast, slow.result);
  EXPECT_EQ(sink.all.cycles, slow.all.cycles);
  EXPECT_TRUE(sink.all.transactions == slow.all.transactions);
  EXPECT_TRUE(sink.all.requests == slow.all.requests);
  EXPECT_LE(slow.most_running, that.options.resident_warps);
  return fast;
}

InterleaveResult compare(const test::InterleaveCase& that, std::uint64_t seed) {
  KeptSource source = test::random_source(that.shape, seed);
  const WorkPlan plan = test::random_plan(source.items(), that.queues, seed + 1);
  test::SlowQueues slow(plan);
  return compare(that, source, *dispatch_plan(plan, that.machine.sms), slow);
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
    seen.mshr_stall_cycles += fast.mshr_stall_cycles;
  }
  EXPECT_GT(seen.l1_hits, 1000U);
  EXPECT_GT(seen.merged, 1000U);
  EXPECT_GT(seen.l2_hits, 1000U);
  EXPECT_GT(seen.dram, 1000U);
  EXPECT_GT(seen.mshr_stall_cycles, 1000U);
}

// Units and rounds: own SMs, SMs that the machine chooses, and warps spread over all SMs.
TEST(Interleave, PlacesSchedulesAsTheSlowOneDoes) {
  std::uint64_t rounds = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const test::InterleaveCase that = test::random_case(seed + 3000);
    KeptSource source = test::random_source(that.shape, seed);
    test::Draws draw(seed + 7000);
    const auto schedule = test::random_schedule(source.items(), draw);
    rounds += schedule.rounds();
    const std::uint32_t withheld = draw.upto(2) == 0 ? draw.upto(that.machine.sms - 1) : 0;
    test::SlowUnits slow(schedule, that.machine.sms, withheld, that.machine.l2_latency_cycles);
    const auto dispatcher = dispatch_schedule(schedule, that.machine, withheld);
    const InterleaveResult fast = compare(that, source, *dispatcher, slow);
    EXPECT_EQ(source.asked, std::vector<std::uint32_t>(source.items(), 1)) << "streams are made once";
    for (std::uint32_t sm = 0; sm < withheld; ++sm) {
      EXPECT_EQ(fast.sm_instructions[sm], 0U);
    }
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(rounds, 500U);
}

// Warps on SMs of their own that wait for each other.
TEST(Interleave, PlaysTimedRunsAsTheSlowOneDoes) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    const test::InterleaveCase that = test::random_case(seed + 4000);
    KeptSource source = test::random_source(that.shape, seed);
    test::Draws draw(seed + 8000);
    const test::PlayedWarps played(source.items(), that.machine.sms, draw);
    test::SlowPlayed slow(played.schedule, played.segments, played.sm, that.machine.l2_latency_cycles);
    const auto dispatcher = dispatch_played(played.schedule, played.segments, played.sm, that.machine);
    compare(that, source, *dispatcher, slow);
    EXPECT_EQ(source.asked, std::vector<std::uint32_t>(source.items(), 1)) << "streams are made once";
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

/// One warp a unit, and no SM given: the one queue of the launch order.
TEST(Interleave, UnitsOfOneWarpAreOneQueue) {
  const test::InterleaveCase that = test::random_case(5000);
  KeptSource source = test::random_source(that.shape, 1);
  scheduler::SegmentSchedule schedule;
  WorkPlan plan = test::random_plan(source.items(), 1, 1);
  std::iota(plan.queue.begin(), plan.queue.end(), 0U);
  schedule.moved.resize(source.items());
  for (std::uint64_t i = 0; i <= source.items(); ++i) {
    schedule.round_begin.push_back(i);
    schedule.unit_begin.push_back(i);
  }
  schedule.unit_sm.assign(source.items(), scheduler::kAnySm);
  KeepingSink one;
  KeepingSink other;
  expect_same(interleave(source, *dispatch_schedule(schedule, that.machine, 0), that.machine, that.options, one),
              interleave(source, plan, that.machine, that.options, other));
  EXPECT_TRUE(one.all.transactions == other.all.transactions);
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
      {"the L2 slower than DRAM",
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
