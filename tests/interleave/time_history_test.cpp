// Does the history of memory time say what happened when, and lose nothing?
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "sim/machine/interleave.hpp"
#include "sim/machine/time_history.hpp"
#include "tests/interleave/random_work.hpp"
#include "tests/interleave/same_result.hpp"
#include "tests/interleave/slow_interleave.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::machine {
namespace {

using test::KeepingSink;
using test::WorkCase;

/// Events cycle by cycle, in arrays as long as the launch.
struct SlowHistory {
  std::uint64_t cycles = 0;
  std::vector<HistoryWindow> each;  ///< by cycle

  explicit SlowHistory(std::uint64_t length) : cycles(length), each(length) {}

  HistoryWindow& at(std::uint64_t cycle) {
    return each[std::min(cycle, cycles - 1)];
  }
  [[nodiscard]] std::vector<HistoryWindow> windows(std::uint64_t width) const {
    std::vector<HistoryWindow> sums((cycles + width - 1) / width);
    for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
      HistoryWindow& sum = sums[cycle / width];
      const HistoryWindow& one = each[cycle];
      sum.accesses += one.accesses;
      sum.l1_misses += one.l1_misses;
      sum.l2_misses += one.l2_misses;
      sum.l2_bytes += one.l2_bytes;
      sum.dram_bytes += one.dram_bytes;
      sum.miss_cycles += one.miss_cycles;
      sum.warp_cycles += one.warp_cycles;
    }
    return sums;
  }
};

void expect_like(const TimeHistory& fast, const SlowHistory& slow) {
  EXPECT_EQ(fast.cycles(), slow.cycles);
  EXPECT_LE(fast.windows().size(), TimeHistory::kMostWindows);
  EXPECT_TRUE(fast.windows() == slow.windows(fast.window_cycles()));
}

TEST(TimeHistory, IsWhatTheSlowOneSays) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    test::Draws draw(seed);
    const std::uint64_t cycles = 1 + draw.upto(seed % 3 == 0 ? 400 : 30'000);
    const std::uint32_t sms = 1 + draw.upto(3);
    TimeHistory fast(sms);
    SlowHistory slow(cycles);
    std::vector<SlowHistory> slow_sms(sms, slow);
    for (std::uint32_t event = 0; event < 500; ++event) {
      const std::uint32_t sm = draw.upto(sms - 1);
      const std::uint64_t from = draw.upto(static_cast<std::uint32_t>(cycles - 1));
      const std::uint64_t to = from + draw.upto(static_cast<std::uint32_t>(cycles - from));
      const auto both = [&](std::uint64_t cycle, std::uint64_t HistoryWindow::*member, std::uint64_t amount) {
        slow.at(cycle).*member += amount;
        slow_sms[sm].at(cycle).*member += amount;
      };
      switch (draw.upto(3)) {
        case 0:
          fast.warp_starts(sm, from);
          fast.warp_ends(sm, to);
          for (std::uint64_t cycle = from; cycle < to; ++cycle) {
            both(cycle, &HistoryWindow::warp_cycles, 1);
          }
          break;
        case 1: {
          const bool in_memory = draw.upto(1) == 0;
          fast.access(sm, from);
          fast.miss(sm, from, to, in_memory);
          both(from, &HistoryWindow::accesses, 1);
          both(from, &HistoryWindow::l1_misses, 1);
          both(from, &HistoryWindow::l2_misses, in_memory ? 1U : 0U);
          for (std::uint64_t cycle = from; cycle < to; ++cycle) {
            both(cycle, &HistoryWindow::miss_cycles, 1);
          }
          break;
        }
        case 2:
          fast.access(sm, from);
          both(from, &HistoryWindow::accesses, 1);
          break;
        default: {
          const std::uint64_t late =
              draw.upto(9) == 0 ? cycles + draw.upto(5000) : from;  // behind the end: last window
          fast.l2_serves(from, 96);
          slow.at(from).l2_bytes += 96;
          fast.dram_serves(late, 32);
          slow.at(late).dram_bytes += 32;
        }
      }
    }
    fast.finish(cycles);
    expect_like(fast, slow);
    for (std::uint32_t sm = 0; sm < sms; ++sm) {
      EXPECT_TRUE(fast.of_sms()[sm] == slow_sms[sm].windows(fast.window_cycles())) << "SM " << sm;
    }
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

TEST(TimeHistory, WindowsOfTheLaunchAreItsCycles) {
  TimeHistory history(2);
  history.warp_starts(0, 0);
  history.warp_ends(0, 1'000'001);
  history.finish(1'000'001);
  std::uint64_t cycles = 0;
  for (std::size_t i = 0; i < history.windows().size(); ++i) {
    cycles += history.cycles_of(i);
  }
  EXPECT_EQ(cycles, 1'000'001U);
  EXPECT_GT(history.windows().size(), TimeHistory::kMostWindows / 2 - 1);
}

TEST(TimeHistory, MachinesOfManySmsHaveFewerWindows) {
  EXPECT_EQ(TimeHistory::most_windows(1), TimeHistory::kMostWindows);
  EXPECT_EQ(TimeHistory::most_windows(1024), TimeHistory::kMostWindows);
  EXPECT_EQ(TimeHistory::most_windows(4096), 128U);
  EXPECT_EQ(TimeHistory::most_windows(1U << 20U), 16U);
}

InterleaveResult run(WorkCase& that, std::uint64_t seed, TimeHistory* history, memory::TransactionBlock& all) {
  const WorkPlan plan = test::random_plan(that.source.items(), that.base.queues, seed + 1);
  InterleaveOptions options = that.options();
  options.history = history;
  KeepingSink sink;
  InterleaveResult result = interleave(that.source, plan, that.base.machine, options, sink);
  all = std::move(sink.all);
  return result;
}

TEST(TimeHistory, SumsAreThoseOfTheResult) {
  std::uint64_t misses = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    WorkCase that = test::random_work_case(seed);
    TimeHistory history(that.base.machine.sms);
    memory::TransactionBlock all;
    const InterleaveResult result = run(that, seed, &history, all);
    HistoryWindow sum;
    for (const HistoryWindow& one : history.windows()) {
      sum.accesses += one.accesses;
      sum.l1_misses += one.l1_misses;
      sum.l2_misses += one.l2_misses;
      sum.l2_bytes += one.l2_bytes;
      sum.dram_bytes += one.dram_bytes;
      sum.warp_cycles += one.warp_cycles;
    }
    EXPECT_EQ(history.cycles(), result.cycles);
    EXPECT_EQ(sum.accesses, result.l1_hits + result.merged + result.l2_hits + result.dram);
    EXPECT_EQ(sum.l1_misses, result.l2_hits + result.dram);
    EXPECT_EQ(sum.l2_misses, result.dram);
    EXPECT_EQ(sum.l2_bytes, result.time.l2_bytes);
    EXPECT_EQ(sum.dram_bytes, result.time.dram_bytes);
    std::uint64_t lives = 0;
    for (std::size_t sm = 0; sm < result.time.sms.size(); ++sm) {
      const SmTime& time = result.time.sms[sm];
      const std::uint64_t own = std::accumulate(time.waits.begin(), time.waits.end(), std::uint64_t{0});
      std::uint64_t told = 0;
      for (const HistoryWindow& one : history.of_sms()[sm]) {
        told += one.warp_cycles;
      }
      EXPECT_EQ(told, own) << "SM " << sm;
      lives += own;
    }
    EXPECT_EQ(sum.warp_cycles, lives);
    misses += sum.l1_misses;
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(misses, 10'000U);
}

TEST(TimeHistory, NothingElseChangesByIt) {
  for (std::uint64_t seed = 100; seed < 130; ++seed) {
    SCOPED_TRACE(seed);
    WorkCase that = test::random_work_case(seed), other = test::random_work_case(seed);
    TimeHistory history(that.base.machine.sms);
    memory::TransactionBlock with, without;
    const InterleaveResult told = run(that, seed, &history, with);
    const InterleaveResult plain = run(other, seed, nullptr, without);
    test::expect_same(told, plain);
    EXPECT_TRUE(told.time.sms == plain.time.sms);
    EXPECT_TRUE(with.transactions == without.transactions);
    EXPECT_TRUE(with.cycles == without.cycles);
  }
}

TEST(TimeHistory, AnSmNeverHoldsMoreMissesThanItHas) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    WorkCase that = test::random_work_case(seed);
    TimeHistory history(that.base.machine.sms);
    memory::TransactionBlock all;
    static_cast<void>(run(that, seed, &history, all));
    for (const auto& sm : history.of_sms()) {
      for (std::size_t i = 0; i < sm.size(); ++i) {
        EXPECT_LE(sm[i].miss_cycles, history.cycles_of(i) * that.base.machine.outstanding_misses);
      }
    }
  }
}

TEST(TimeHistory, NeedsMemoryTime) {
  WorkCase that = test::random_work_case(1);
  TimeHistory history(that.base.machine.sms);
  InterleaveOptions options = that.options();
  options.work = false;
  options.start_delay = {};
  options.history = &history;
  KeepingSink sink;
  const WorkPlan plan = test::random_plan(that.source.items(), that.base.queues, 2);
  const Error error =
      test::error_of([&] { static_cast<void>(interleave(that.source, plan, that.base.machine, options, sink)); });
  EXPECT_EQ(error.kind(), ErrorKind::Usage);
}

}  // namespace
}  // namespace rayreplay::machine
