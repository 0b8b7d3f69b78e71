// Microbenchmarks with answers on paper: what workloads do not cover (sim/workloads, tests/workloads).
//
// Workloads of warps hold times, bytes and busy shares against closed forms on any machine. Here are the states of
// warps, hits in the L2 from other warps' misses, instructions of many lines, and SMs without warps.
//
// Most are one closed loop: W slots, each of which asks a server again as soon as it has its answer, N times in all. A
// server that begins one every `service` cycles and answers after `latency` gives
//   latency + (W − 1) · service + (N / W − 1) · max(latency, W · service),
// which is Little's law: N · latency / W as long as slots are few, N · service once the server is the bottleneck.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/machine/interleave.hpp"
#include "tests/interleave/hand_made.hpp"
#include "tests/interleave/slow_interleave.hpp"

namespace rayreplay::machine {
namespace {

using memory::WarpWork;
using test::KeptSource;

constexpr double kClock = 1e6;                   // Hz: rates are easily read
constexpr double kWithoutLimit = 1e9 * kClock;   // bytes a second: a sector takes no time
constexpr std::uint64_t kSector = 32;            // bytes
constexpr std::uint64_t kFractions = 1U << 20U;  // of a cycle

std::uint64_t closed_loop(std::uint64_t turns, std::uint64_t slots, std::uint64_t latency, std::uint64_t service) {
  return latency + (slots - 1) * service + (turns / slots - 1) * std::max(latency, slots * service);
}

Machine one_sm() {
  Machine machine;
  machine.sms = 1;
  machine.clock_mhz = 1;
  machine.l2_bytes_per_second = machine.dram_bytes_per_second = kWithoutLimit;
  machine.l1_latency_cycles = 10;
  machine.l2_latency_cycles = 50;
  machine.dram_latency_cycles = 120;
  machine.outstanding_misses = 1000;
  return machine;
}

struct Bench {
  Machine machine = one_sm();
  KeptSource source;
  InterleaveOptions options{.resident_warps = 1, .work = true};
  std::vector<std::uint32_t> delays;
};

/// The interleaving, after a look at its twin.
InterleaveResult measure(Bench& bench) {
  const WorkPlan plan = test::plan_of(bench.source.items());
  bench.options.start_delay = bench.delays;
  for (memory::WarpStream& stream : bench.source.streams) {
    stream.work.resize(stream.instructions() + 1);  // nothing where nothing was said
  }
  test::SlowQueues queues(plan);
  test::SlowInterleave slow(bench.source.streams, bench.source.options, queues, bench.machine, bench.options);
  slow.run();
  test::KeepingSink sink;
  InterleaveResult result = interleave(bench.source, plan, bench.machine, bench.options, sink);
  EXPECT_EQ(result.cycles, slow.result.cycles);
  EXPECT_EQ(result.time.sms, slow.result.time.sms);
  return result;
}

/// Warps that each load one line of their own, between these rows of work.
KeptSource own_lines(std::uint64_t warps, const WarpWork& before = {}, const WarpWork& after = {}) {
  std::vector<std::vector<test::Step>> items;
  for (std::uint64_t warp = 0; warp < warps; ++warp) {
    items.push_back({test::load({warp})});
  }
  KeptSource source = test::hand_made(items);
  for (memory::WarpStream& stream : source.streams) {
    stream.work = {before, after};
  }
  return source;
}

/// Warps that ask no memory.
KeptSource work_alone(std::uint64_t warps, const WarpWork& work) {
  KeptSource source = test::hand_made(std::vector<std::vector<test::Step>>(warps));
  for (memory::WarpStream& stream : source.streams) {
    stream.work = {work};
  }
  return source;
}

/// Loads of one warp, one after the other.
KeptSource chase(const std::vector<std::uint64_t>& lines, bool store_first = false) {
  std::vector<test::Step> steps;
  for (std::size_t i = 0; store_first && i < lines.size(); ++i) {
    steps.push_back(test::store({lines[i]}));
  }
  for (const std::uint64_t line : lines) {
    steps.push_back(test::load({line}));
  }
  return test::hand_made({steps});
}

std::vector<std::uint64_t> different(std::size_t count) {
  std::vector<std::uint64_t> lines(count);
  std::iota(lines.begin(), lines.end(), 0U);
  return lines;
}

std::uint64_t waits(const InterleaveResult& result, WarpWait state) {
  std::uint64_t sum = 0;
  for (const SmTime& sm : result.time.sms) {
    sum += sm.waits[static_cast<std::size_t>(state)];
  }
  return sum;
}

TEST(ClosedForms, PointerChase) {
  for (const std::uint32_t latency : {1U, 30U, 500U}) {
    for (const std::uint32_t loads : {1U, 2U, 17U, 100U}) {
      for (const std::uint32_t compute : {0U, 7U}) {
        SCOPED_TRACE(testing::Message() << latency << " cycles, " << loads << " loads, compute " << compute);
        Bench bench;
        bench.source = chase(different(loads));
        bench.machine.dram_latency_cycles = latency;
        bench.options.compute_cycles = compute;
        const InterleaveResult result = measure(bench);
        EXPECT_EQ(result.cycles, loads * latency + (loads - 1) * compute);
        EXPECT_EQ(waits(result, WarpWait::Dram), loads * latency);
        EXPECT_EQ(waits(result, WarpWait::Issue), (loads - 1) * compute);
      }
    }
  }
}

// One line, or stores that leave the lines in the L2, before.
TEST(ClosedForms, PointerChaseThroughCaches) {
  for (const std::uint32_t loads : {1U, 2U, 17U, 100U}) {
    SCOPED_TRACE(loads);
    Bench l1;
    l1.source = chase(std::vector<std::uint64_t>(loads, 5));
    InterleaveResult result = measure(l1);
    EXPECT_EQ(result.cycles, 120 + (loads - 1) * 10);
    EXPECT_EQ(waits(result, WarpWait::L1), (loads - 1) * 10);
    Bench l2;
    l2.source = chase(different(loads), true);
    result = measure(l2);
    EXPECT_EQ(result.cycles, loads * (1 + 50)) << "a store takes a cycle";
    EXPECT_EQ(waits(result, WarpWait::L2), loads * 50);
  }
}

/// The last of `count` sectors begins when all others have been served.
std::uint64_t streaming(std::uint64_t count, double bytes_per_cycle, std::uint64_t latency) {
  const auto service = static_cast<std::uint64_t>(std::llround(kSector / bytes_per_cycle * kFractions));
  return (count - 1) * service / kFractions + latency;
}

// No L1, and few lines: hits in the L2. DRAM is as near as the L2, so that the first loads are like the others.
TEST(ClosedForms, StreamingAtTheBandwidthOfTheL2) {
  for (const std::uint32_t sms : {1U, 2U, 4U}) {
    for (const double bytes_per_cycle : {1.7, 8.0, 13.0, 24.0}) {
      SCOPED_TRACE(testing::Message() << sms << " SMs, " << bytes_per_cycle << " bytes a cycle");
      std::vector<std::vector<test::Step>> items;
      for (std::uint64_t warp = 0; warp < 1200; ++warp) {
        items.push_back({test::load({warp % 16})});
      }
      Bench bench;
      bench.source = test::hand_made(items);
      bench.machine.sms = sms;
      bench.machine.l1_bytes = 0;
      bench.machine.l2_latency_cycles = bench.machine.dram_latency_cycles = 40;
      bench.machine.l2_bytes_per_second = bytes_per_cycle * kClock;
      bench.options.resident_warps = 64;
      const InterleaveResult result = measure(bench);
      EXPECT_EQ(result.cycles, streaming(1200, bytes_per_cycle, 40));
      EXPECT_EQ(result.l2_hits, 1200U - 16U);
      EXPECT_EQ(result.time.l2_bytes, 1200 * kSector);
      EXPECT_EQ(result.time.dram_bytes, 16 * kSector);
    }
  }
}

// Stores need no answer, but those behind them do.
TEST(ClosedForms, StoresTakeBandwidth) {
  for (const std::uint32_t stores : {0U, 1U, 10U, 200U}) {
    SCOPED_TRACE(stores);
    std::vector<test::Step> steps;
    for (std::uint64_t line = 0; line < stores; ++line) {
      steps.push_back(test::store({line}));
    }
    steps.push_back(test::load({1000}));
    Bench bench;
    bench.source = test::hand_made({steps});
    bench.machine.l2_bytes_per_second = kSector * kClock / 4;  // four cycles a sector
    const InterleaveResult result = measure(bench);
    EXPECT_EQ(result.cycles, 4 * stores + 120);
    EXPECT_EQ(result.time.l2_bytes, (stores + 1) * kSector);
    EXPECT_EQ(result.time.dram_bytes, kSector);
  }
}

// A traversal: each step loads a node of the L1 and tests it. The first node comes from DRAM. The latency of the load
// and that of the tests do not depend on each other.
TEST(ClosedForms, TraversalOfOneWarp) {
  for (const std::uint32_t steps : {1U, 2U, 30U}) {
    for (const std::uint16_t visits : {std::uint16_t{1}, std::uint16_t{32}}) {
      for (const std::uint32_t hit : {10U, 35U, 100U}) {
        SCOPED_TRACE(testing::Message() << steps << " steps, " << visits << " visits, hit " << hit);
        Bench bench;
        bench.source = chase(std::vector<std::uint64_t>(steps, 5));
        bench.source.streams[0].work.assign(steps + 1, {.visits = visits, .boxes = visits});
        bench.source.streams[0].work[0] = {.rays_begin = 32};
        bench.source.streams[0].work[steps].rays_end = 32;
        bench.machine.rt_steps_per_cycle = 4;
        bench.machine.l1_latency_cycles = hit;
        bench.machine.rt_test_latency_cycles = 30;
        const InterleaveResult result = measure(bench);
        const std::uint64_t service = visits == 1 ? 1 : 8;
        EXPECT_EQ(result.cycles, 120 + (steps - 1) * hit + steps * (30 + service));
        EXPECT_EQ(waits(result, WarpWait::Traversal), steps * (30 + service));
        EXPECT_EQ(waits(result, WarpWait::L1), (steps - 1) * hit);
      }
    }
  }
}

// M misses a latency, whether they are those of many warps, of one instruction, or of instructions that do not wait for
// each other.
TEST(ClosedForms, OutstandingMisses) {
  constexpr std::uint32_t kLoads = 240;
  for (const std::uint32_t misses : {1U, 2U, 8U, 40U, 120U, 240U}) {
    SCOPED_TRACE(misses);
    const std::uint64_t expected = closed_loop(kLoads, misses, 120, 1);
    Bench warps;
    warps.source = own_lines(kLoads);
    warps.machine.outstanding_misses = misses;
    warps.options.resident_warps = kLoads;
    EXPECT_EQ(measure(warps).cycles, expected);

    Bench instruction;
    std::vector<test::Touch> touches;
    for (std::uint64_t line = 0; line < kLoads; ++line) {
      touches.emplace_back(line);
    }
    instruction.source = test::hand_made({{test::load(touches)}});
    instruction.machine.outstanding_misses = misses;
    EXPECT_EQ(measure(instruction).cycles, expected);

    Bench clause;
    clause.source = chase(different(kLoads));
    clause.source.streams[0].work.assign(kLoads + 1, {.follows = true});
    clause.source.streams[0].work.front() = clause.source.streams[0].work.back() = {};
    clause.machine.outstanding_misses = misses;
    clause.options.compute_cycles = 99;  // none between instructions of a clause
    const InterleaveResult result = measure(clause);
    EXPECT_EQ(result.cycles, expected);
    EXPECT_EQ(waits(result, WarpWait::LoadUnit), expected - 120) << "the last one issues then";
    EXPECT_EQ(waits(result, WarpWait::Dram), 120U);
  }
}

TEST(ClosedForms, DelaysOfReordering) {
  for (const std::uint32_t delay : {1U, 40U, 500U}) {
    for (const std::uint32_t slots : {1U, 4U, 20U, 60U}) {
      SCOPED_TRACE(testing::Message() << "delay " << delay << ", " << slots << " slots");
      constexpr std::uint32_t kWarps = 60;
      Bench alone;
      alone.source = work_alone(kWarps, {});
      alone.delays.assign(kWarps, delay);
      alone.options.resident_warps = slots;
      InterleaveResult result = measure(alone);
      EXPECT_EQ(result.cycles, kWarps / slots * delay);
      EXPECT_EQ(waits(result, WarpWait::Reorder), kWarps * delay);

      Bench loads;
      loads.source = own_lines(kWarps);
      loads.delays = alone.delays;
      loads.options.resident_warps = slots;
      result = measure(loads);
      EXPECT_EQ(result.cycles, closed_loop(kWarps, slots, delay + 120, 1));
      EXPECT_EQ(waits(result, WarpWait::Reorder), kWarps * delay);
    }
  }
}

// Two SMs, one warp: the other is idle.
TEST(ClosedForms, AnSmWithoutWarpsIsIdle) {
  Bench bench;
  bench.source = own_lines(1);
  bench.machine.sms = 2;
  const InterleaveResult result = measure(bench);
  ASSERT_EQ(result.time.sms.size(), 2U);
  EXPECT_EQ(result.time.sms[0].busy, 120U);
  EXPECT_EQ(result.time.sms[1].idle, 120U);
  EXPECT_EQ(result.time.sms[1].busy + result.time.sms[1].barrier, 0U);
}

}  // namespace
}  // namespace rayreplay::machine
