// Memory time as shares: by hand.
#include "sim/machine/time_shares.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace rayreplay::test {
namespace {

using machine::MemoryTime;
using machine::Resource;
using machine::TimeShares;
using machine::WarpWait;

/// Two SMs, 100 cycles. The first has two warps for 60 cycles, then none for 10, one for 10; the second ran nothing.
MemoryTime two_sms() {
  MemoryTime time;
  time.sms.resize(2);
  time.sms[0] = {.busy = 70, .barrier = 10, .idle = 20};
  time.sms[0].waits[static_cast<std::size_t>(WarpWait::Issue)] = 26;
  time.sms[0].waits[static_cast<std::size_t>(WarpWait::Dram)] = 104;
  time.sms[1] = {.idle = 100};
  time.issue_cycles = 80;
  time.ray_unit_cycles = 30;
  time.l2_cycles = 25;
  time.dram_cycles = 50;
  return time;
}

TEST(TimeShares, DivideSmCyclesWithoutRest) {
  machine::Machine machine;
  machine.sms = 2;
  machine.issue_partitions = 4;
  const TimeShares shares = machine::time_shares(two_sms(), 100, 40, machine);
  // 70 of 200 SM-cycles, a fifth of them in issue: 26 of 130 warp-cycles.
  EXPECT_DOUBLE_EQ(shares.parts[static_cast<std::size_t>(WarpWait::Issue)], 0.07);
  EXPECT_DOUBLE_EQ(shares.parts[static_cast<std::size_t>(WarpWait::Dram)], 0.28);
  EXPECT_DOUBLE_EQ(shares.parts[machine::kBarrierPart], 0.05);
  EXPECT_DOUBLE_EQ(shares.parts[machine::kIdlePart], 0.6);
  EXPECT_DOUBLE_EQ(std::accumulate(shares.parts.begin(), shares.parts.end(), 0.0), 1);
  EXPECT_DOUBLE_EQ(shares.resident_warps, 0.65);
  EXPECT_DOUBLE_EQ(shares.busy[static_cast<std::size_t>(Resource::IssueSlots)], 0.1);
  EXPECT_DOUBLE_EQ(shares.busy[static_cast<std::size_t>(Resource::RayUnit)], 0.15);
  EXPECT_DOUBLE_EQ(shares.busy[static_cast<std::size_t>(Resource::L2Bandwidth)], 0.25);
  EXPECT_DOUBLE_EQ(shares.busy[static_cast<std::size_t>(Resource::DramBandwidth)], 0.5);
  EXPECT_DOUBLE_EQ(shares.busy[static_cast<std::size_t>(Resource::Mshrs)], 0.2);
  EXPECT_EQ(shares.bound, Resource::DramBandwidth);
  EXPECT_EQ(machine::time_verdict(shares),
            "the busiest resource is DRAM bandwidth, 50.0 % busy; of SM-cycles 60.0 % idle, 28.0 % DRAM, 7.0 % issue");
}

TEST(TimeShares, ALaunchWithoutCyclesHasNone) {
  MemoryTime time;
  time.sms.resize(3);
  const TimeShares shares = machine::time_shares(time, 0, 0, {});
  for (const double part : shares.parts) {
    EXPECT_EQ(part, 0);
  }
  EXPECT_EQ(shares.of_bound(), 0);
}

}  // namespace
}  // namespace rayreplay::test
