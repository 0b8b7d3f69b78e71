// Is memory time, part by part and cycle by cycle, what its rules say?
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/machine/interleave.hpp"
#include "sim/machine/time_shares.hpp"
#include "tests/interleave/random_work.hpp"
#include "tests/interleave/same_result.hpp"
#include "tests/interleave/slow_interleave.hpp"

namespace rayreplay::machine {
namespace {

using test::expect_equal;
using test::expect_whole;
using test::first_difference;
using test::KeepingSink;
using test::kStates;
using test::WorkCase;

struct Compared {
  InterleaveResult fast;
  std::uint64_t most_rays = 0;
};

Compared compare(WorkCase& that, Dispatcher& dispatcher, test::SlowDispatch& slow_dispatch) {
  const InterleaveOptions options = that.options();
  test::SlowInterleave slow(that.source.streams, that.source.options, slow_dispatch, that.base.machine, options);
  slow.run();
  KeepingSink sink;
  Compared result{interleave(that.source, dispatcher, that.base.machine, options, sink), slow.most_rays};
  EXPECT_EQ(first_difference(sink.all, slow.all), "");
  EXPECT_TRUE(sink.all.requests == slow.all.requests);
  expect_equal(result.fast, slow.result);
  expect_whole(result.fast, slow.lives, that.base.machine);
  return result;
}

Compared compare(WorkCase& that, std::uint64_t seed) {
  const WorkPlan plan = test::random_plan(that.source.items(), that.base.queues, seed + 1);
  test::SlowQueues slow(plan);
  return compare(that, *dispatch_plan(plan, that.base.machine.sms), slow);
}

TEST(MemoryTime, IsWhatTheSlowOneSays) {
  std::array<std::uint64_t, kWarpWaits> seen{};  // every state is met with somewhere
  std::uint64_t barrier = 0;
  std::uint64_t limited = 0;
  std::uint64_t written = 0;  // by an L2
  StageWaits stages{};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    WorkCase that = test::random_work_case(seed);
    const Compared compared = compare(that, seed);
    for (const SmTime& time : compared.fast.time.sms) {
      for (std::size_t state = 0; state < kWarpWaits; ++state) {
        seen[state] += time.waits[state];
      }
      barrier += time.barrier;
    }
    limited += compared.most_rays > 0 ? 1 : 0;
    for (std::size_t stage = 0; stage < memory::kWorkStages; ++stage) {
      for (std::size_t state = 0; state < kWarpWaits; ++state) {
        stages[stage][state] += compared.fast.time.stages[stage][state];
      }
    }
    written += that.base.machine.l2_bytes == 0 ? 0 : compared.fast.time.dram_written_bytes;
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  for (std::size_t state = 0; state < kWarpWaits; ++state) {
    EXPECT_GT(seen[state], 10'000U) << kStates[state];
  }
  EXPECT_EQ(barrier, 0U) << "queues have no barriers";
  EXPECT_GT(limited, 20U);
  EXPECT_GT(written, 100'000U);
  for (std::size_t stage = 0; stage < memory::kWorkStages; ++stage) {
    for (const WarpWait state : {WarpWait::Issue, WarpWait::LoadUnit, WarpWait::L1, WarpWait::L2, WarpWait::Dram}) {
      EXPECT_GT(stages[stage][static_cast<std::size_t>(state)], 100U) << memory::kWorkStageNames[stage];
    }
  }
}

TEST(MemoryTime, OfSchedulesIsWhatTheSlowOneSays) {
  std::uint64_t barrier = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    WorkCase that = test::random_work_case(seed + 3000);
    test::Draws draw(seed + 7000);
    const auto schedule = test::random_schedule(that.source.items(), draw);
    const Machine& machine = that.base.machine;
    const std::uint32_t withheld = draw.upto(2) == 0 ? draw.upto(machine.sms - 1) : 0;
    test::SlowUnits slow(schedule, machine.sms, withheld, machine.l2_latency_cycles);
    const auto dispatcher = dispatch_schedule(schedule, machine, withheld);
    const Compared compared = compare(that, *dispatcher, slow);
    for (std::uint32_t sm = 0; sm < machine.sms; ++sm) {
      barrier += compared.fast.time.sms[sm].barrier;
      if (sm < withheld) {
        EXPECT_EQ(compared.fast.time.sms[sm].idle, compared.fast.cycles) << "a withheld SM runs nothing";
      }
    }
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(barrier, 1000U);
}

TEST(MemoryTime, OfTimedRunsIsWhatTheSlowOneSays) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    WorkCase that = test::random_work_case(seed + 4000);
    const Machine& machine = that.base.machine;
    test::Draws draw(seed + 8000);
    const test::PlayedWarps played(that.source.items(), machine.sms, draw);
    test::SlowPlayed slow(played.schedule, played.segments, played.sm, machine.l2_latency_cycles);
    const auto dispatcher = dispatch_played(played.schedule, played.segments, played.sm, machine);
    compare(that, *dispatcher, slow);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

/// Work alone: no stream has an instruction.
TEST(MemoryTime, OfWarpsThatNeverAskMemory) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    WorkCase that = test::random_work_case(seed + 5000);
    for (memory::WarpStream& stream : that.source.streams) {
      test::Draws draw(seed + stream.transactions.size());
      const auto row = test::random_row({.tests_of_8 = 6, .shader_of_8 = 6}, draw);
      stream = {};
      stream.work = {draw.upto(3) == 0 ? memory::WarpWork{} : row};
    }
    compare(that, seed);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

/// Streams whose work is empty: accesses as without it where bandwidths are beyond all limits.
TEST(MemoryTime, WithoutWorkIsTheInterleaving) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    WorkCase that = test::random_work_case(seed + 6000);
    that.delays.clear();
    for (memory::WarpStream& stream : that.source.streams) {
      stream.work.assign(stream.instructions() + 1, {});
    }
    Machine& machine = that.base.machine;
    machine.clock_mhz = 1;
    machine.l2_bytes_per_second = machine.dram_bytes_per_second = 1e15;
    const WorkPlan plan = test::random_plan(that.source.items(), that.base.queues, seed + 1);
    InterleaveOptions options = that.options();
    KeepingSink with;
    const InterleaveResult result = interleave(that.source, plan, machine, options, with);
    options.work = false;
    KeepingSink without;
    const InterleaveResult plain = interleave(that.source, plan, machine, options, without);
    EXPECT_EQ(first_difference(with.all, without.all), "");
    EXPECT_EQ(result.cycles, plain.cycles);
    EXPECT_EQ(result.mshr_stall_cycles, plain.mshr_stall_cycles);
    EXPECT_TRUE(plain.time.sms.empty());
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

/// Each end of each range.
TEST(MemoryTime, IsWhatTheSlowOneSaysAtTheEnds) {
  struct End {
    const char* name;
    void (*set)(WorkCase&);
  };
  const std::vector<End> ends = {
      {"no L1", [](auto& at) { at.base.machine.l1_bytes = 0; }},
      {"no L2", [](auto& at) { at.base.machine.l2_bytes = 0; }},
      {"no cache", [](auto& at) { at.base.machine.l1_bytes = at.base.machine.l2_bytes = 0; }},
      {"one outstanding miss", [](auto& at) { at.base.machine.outstanding_misses = 1; }},
      {"one slot", [](auto& at) { at.base.options.resident_warps = 1; }},
      {"one SM", [](auto& at) { at.base.machine.sms = at.base.queues = 1; }},
      {"64 partitions", [](auto& at) { at.base.machine.issue_partitions = 64; }},
      {"a ray at a time", [](auto& at) { at.base.machine.rt_rays = 1; }},
      {"software", [](auto& at) { at.base.machine.software_traversal = true; }},
      {"tests by kind",
       [](auto& at) {
         at.base.machine.software_traversal = false;
         at.base.machine.rt_boxes_per_cycle = 1.5;
         at.base.machine.rt_triangles_per_cycle = 0.7;
       }},
      {"latencies of one cycle",
       [](auto& at) {
         at.base.machine.l1_latency_cycles = at.base.machine.l2_latency_cycles = 1;
         at.base.machine.dram_latency_cycles = 1;
         at.base.options.compute_cycles = 0;
       }},
      {"the L2 slower than DRAM",
       [](auto& at) {
         at.base.machine.l2_latency_cycles = 90;
         at.base.machine.dram_latency_cycles = 30;
       }},
      {"an L2 slower in bytes than DRAM",
       [](auto& at) { at.base.machine.l2_bytes_per_second = at.base.machine.dram_bytes_per_second / 3; }},
      {"delays for all", [](auto& at) { at.delays.assign(at.source.items(), 77); }},
  };
  for (const End& end : ends) {
    for (const char* scheduler : {"loose-round-robin", "greedy-then-oldest", "random:seed=5"}) {
      for (std::uint64_t seed = 500; seed < 503; ++seed) {
        SCOPED_TRACE(testing::Message() << end.name << ", " << scheduler << ", " << seed);
        WorkCase that = test::random_work_case(seed);
        end.set(that);
        that.base.options.warp_scheduler = scheduler;
        compare(that, seed);
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
    }
  }
}

}  // namespace
}  // namespace rayreplay::machine
