// Memory time by SM and by stage, of sums given by hand.
#include "sim/machine/time_split.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace rayreplay::test {
namespace {

using machine::MemoryTime;
using machine::SmTime;
using machine::WarpWait;

std::uint64_t& wait_of(SmTime& sm, WarpWait state) {
  return sm.waits[static_cast<std::size_t>(state)];
}

/// Four SMs of a launch of 100 cycles, with 100, 50, 50 and 0 cycles of warps; issue and DRAM 1 : 3, 1 : 1, 1 : 0.
MemoryTime four_sms() {
  MemoryTime time;
  time.sms = {SmTime{.busy = 100}, SmTime{.busy = 50, .idle = 50}, SmTime{.busy = 50, .barrier = 20, .idle = 30},
              SmTime{.idle = 100}};
  wait_of(time.sms[0], WarpWait::Issue) = 200;
  wait_of(time.sms[0], WarpWait::Dram) = 600;
  wait_of(time.sms[1], WarpWait::Issue) = 30;
  wait_of(time.sms[1], WarpWait::Dram) = 30;
  wait_of(time.sms[2], WarpWait::Issue) = 140;
  return time;
}

TEST(TimeSplit, LeastMedianAndMostOfTheSms) {
  const auto spread = machine::sm_spread(four_sms(), 100);
  const auto& issue = spread[static_cast<std::size_t>(WarpWait::Issue)];  // 25, 25, 50 and 0 %
  EXPECT_DOUBLE_EQ(issue.least, 0);
  EXPECT_DOUBLE_EQ(issue.median, 0.25);
  EXPECT_DOUBLE_EQ(issue.most, 0.5);
  EXPECT_EQ(issue.sm, 2U);
  const auto& dram = spread[static_cast<std::size_t>(WarpWait::Dram)];  // 75, 25, 0 and 0 %
  EXPECT_DOUBLE_EQ(dram.median, 0.125);
  EXPECT_DOUBLE_EQ(dram.most, 0.75);
  EXPECT_EQ(dram.sm, 0U);
  EXPECT_DOUBLE_EQ(spread[machine::kBarrierPart].most, 0.2);
  EXPECT_EQ(spread[machine::kBarrierPart].sm, 2U);
  EXPECT_DOUBLE_EQ(spread[machine::kIdlePart].median, 0.4);
  EXPECT_DOUBLE_EQ(spread[machine::kWithWarpsPart].least, 0);
  EXPECT_DOUBLE_EQ(spread[machine::kWithWarpsPart].median, 0.5);
  EXPECT_DOUBLE_EQ(spread[machine::kWithWarpsPart].most, 1);
  EXPECT_EQ(spread[machine::kWithWarpsPart].sm, 0U);
  MemoryTime three = four_sms();
  three.sms.pop_back();
  EXPECT_DOUBLE_EQ(machine::sm_spread(three, 100)[machine::kIdlePart].median, 0.3) << "of an odd number";
}

TEST(TimeSplit, PartsOfAnSmAreTheWhole) {
  for (const SmTime& sm : four_sms().sms) {
    const auto parts = machine::sm_parts(sm, 100);
    EXPECT_DOUBLE_EQ(std::accumulate(parts.begin(), parts.begin() + machine::kTimeParts, 0.0), 1);
    EXPECT_DOUBLE_EQ(std::accumulate(parts.begin(), parts.begin() + machine::kBarrierPart, 0.0),
                     parts[machine::kWithWarpsPart]);
  }
}

TEST(TimeSplit, StagesAreSharesOfAllWarpCycles) {
  MemoryTime time;
  const auto at = [&](memory::WorkStage stage, WarpWait state) -> std::uint64_t& {
    return time.stages[static_cast<std::size_t>(stage)][static_cast<std::size_t>(state)];
  };
  at(memory::WorkStage::Miss, WarpWait::L2) = 30;
  at(memory::WorkStage::Miss, WarpWait::Issue) = 10;
  at(memory::WorkStage::Traversal, WarpWait::L2) = 60;
  const machine::StageShares shares = machine::stage_shares(time);
  EXPECT_DOUBLE_EQ(shares[static_cast<std::size_t>(memory::WorkStage::Miss)][static_cast<std::size_t>(WarpWait::L2)],
                   0.3);
  double sum = 0;
  for (const auto& states : shares) {
    sum = std::accumulate(states.begin(), states.end(), sum);
  }
  EXPECT_DOUBLE_EQ(sum, 1);
}

TEST(TimeSplit, WithoutCyclesAllIsZero) {
  MemoryTime time;
  time.sms.resize(2);
  EXPECT_EQ(machine::sm_spread(time, 0)[machine::kIdlePart].most, 0);
  EXPECT_EQ(machine::sm_spread({}, 0)[machine::kIdlePart].most, 0);
  EXPECT_EQ(machine::stage_shares(time)[1][1], 0);
}

}  // namespace
}  // namespace rayreplay::test
