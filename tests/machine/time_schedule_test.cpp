// Static schedules in time: small cases worked out by hand, the slow twin, and what must hold for every schedule.
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "sim/machine/timing.hpp"
#include "tests/machine/slow_machine.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {
namespace {

using machine::Job;
using machine::Machine;
using machine::Timing;
using machine::Workload;
using scheduler::Charges;
using scheduler::kAnySm;
using scheduler::SegmentSchedule;

/// Units of rounds of warps.
struct Case {
  SegmentSchedule schedule;
  Workload workload;

  Case() {
    schedule.round_begin = {0};
    schedule.unit_begin = {0};
  }
  Case& unit(std::uint32_t sm = kAnySm) {
    schedule.unit_sm.push_back(sm);
    schedule.unit_begin.push_back(schedule.unit_begin.back());
    return *this;
  }
  Case& round(const std::vector<Job>& jobs, std::uint32_t moved = 0, std::uint32_t lanes = 32) {
    for (const Job& job : jobs) {
      workload.jobs.push_back(job);
      workload.hits.push_back(1);
      workload.lanes.push_back(lanes);
      schedule.moved.push_back(moved);
    }
    schedule.round_begin.push_back(schedule.moved.size());
    ++schedule.unit_begin.back();
    return *this;
  }
  [[nodiscard]] Timing time(const Machine& machine, std::uint32_t resident, const Charges& charges = {},
                            const machine::Extra& extra = {}) const {
    return time_schedule(schedule, workload, machine, resident, charges, extra, {.placement = true});
  }
};

Job shade(double latency, double issue = 0) {
  return {.shading = latency, .issue = issue};
}

Machine small(std::uint32_t sms) {
  Machine machine;
  machine.sms = sms;
  machine.issue_per_cycle = 1;
  machine.rt_steps_per_cycle = 1;
  machine.clock_mhz = 1000;
  machine.dram_bytes_per_second = 1e9 * sms;  // one byte a cycle and SM
  return machine;
}

double sum(const machine::Split& split) {
  return split.traversal + split.shading + split.reorder + split.idle + split.withheld;
}

TEST(TimeSchedule, NothingTakesNoTime) {
  const Timing timing = Case().time(small(2), 4);
  EXPECT_EQ(timing.cycles, 0);
  EXPECT_EQ(sum(timing.split), 0);
  EXPECT_EQ(timing.busy_share, 0);
}

TEST(TimeSchedule, OneJobTakesItsSoloTime) {
  const Timing timing =
      Case().unit().round({Job{.shading = 60, .traversal = 30, .issue = 10, .visits = 5}}).time(small(1), 4);
  EXPECT_EQ(timing.cycles, 90);
  EXPECT_EQ(timing.milliseconds, 90e-6);
  EXPECT_EQ(timing.split.shading, 60);
  EXPECT_EQ(timing.split.traversal, 30);
  EXPECT_EQ(timing.split.idle, 0);
  EXPECT_EQ(timing.busy_share, 0.25);
}

TEST(TimeSchedule, AJobThatNeedsMoreThanThereIsIsStretched) {
  EXPECT_EQ(Case().unit().round({shade(10, 40)}).time(small(1), 4).cycles, 40);
  const Timing visits = Case().unit().round({Job{.traversal = 10, .visits = 70}}).time(small(1), 4);
  EXPECT_EQ(visits.cycles, 70);
  EXPECT_EQ(visits.split.traversal, 70);
}

// Two jobs of 100 cycles with 75 issue slots each want 1.5 slots a cycle: both run at 2/3.
TEST(TimeSchedule, TwoJobsShareTheIssueSlots) {
  const Timing timing = Case().unit().round({shade(100, 75)}).unit().round({shade(100, 75)}).time(small(1), 4);
  EXPECT_NEAR(timing.cycles, 150, 1e-9);
  EXPECT_NEAR(timing.limited[0], 1, 1e-12);
  EXPECT_NEAR(timing.split.shading, 150, 1e-9);
}

// 100 and 40 cycles, both at full demand: at half speed until 80, when the short one ends with 40 done; the long one
// then runs its other 60 alone.
TEST(TimeSchedule, TheRateRisesWhenAJobEnds) {
  const Timing timing = Case().unit().round({shade(100, 100)}).unit().round({shade(40, 40)}).time(small(1), 4);
  EXPECT_NEAR(timing.placement.end[1], 80, 1e-9);
  EXPECT_NEAR(timing.cycles, 140, 1e-9);
  EXPECT_NEAR(timing.limited[0], 80.0 / 140, 1e-12);
}

// n equal jobs that each ask for a share d of an SM take solo · max(1, n · d); twice the SMs take twice as many in the
// same time; and all latencies and needs times a factor are all times times the factor.
TEST(TimeSchedule, ScalesAsItShould) {
  const Job job{.shading = 300, .traversal = 100, .issue = 50, .visits = 100};
  const auto equal = [&](std::uint32_t jobs, std::uint32_t sms, double factor) {
    Case jobs_of_a_kind;
    for (std::uint32_t i = 0; i < jobs; ++i) {
      jobs_of_a_kind.unit().round({{.shading = factor * job.shading,
                                    .traversal = factor * job.traversal,
                                    .issue = factor * job.issue,
                                    .visits = factor * job.visits}});
    }
    return jobs_of_a_kind.time(small(sms), 64).cycles;
  };
  for (const std::uint32_t jobs : {1U, 2U, 4U, 5U, 12U, 64U}) {
    const double expected = 400 * std::max(1.0, jobs * 0.25);
    EXPECT_NEAR(equal(jobs, 1, 1), expected, 1e-9 * expected);
    EXPECT_NEAR(equal(7 * jobs, 7, 1), expected, 1e-9 * expected);
    EXPECT_NEAR(equal(jobs, 1, 1e3), 1e3 * expected, 1e-6 * expected);
  }
}

TEST(TimeSchedule, JobsWaitForSlots) {
  Case three;
  three.unit().round({shade(10)}).unit().round({shade(20)}).unit().round({shade(5)});
  const Timing timing = three.time(small(1), 2);
  EXPECT_EQ(timing.cycles, 20);
  EXPECT_EQ(timing.placement.start[2], 10);
  EXPECT_EQ(timing.placement.slot[2], 0U);
  EXPECT_EQ(timing.placement.end[2], 15);
}

TEST(TimeSchedule, UnitsGoToTheEmptiestSm) {
  Case four;
  for (int i = 0; i < 4; ++i) {
    four.unit().round({shade(10.0 + i)});
  }
  const Timing timing = four.time(small(3), 4);
  EXPECT_EQ(timing.placement.sm, (std::vector<std::uint32_t>{0, 1, 2, 0}));
  EXPECT_EQ(timing.tail_cycles, 2);  // SM 1 is done at 11, SM 0 at 13
}

TEST(TimeSchedule, RoundsFollowOneAnother) {
  Case rounds;
  rounds.unit().round({shade(10), shade(30)}).round({shade(5), shade(5)});
  const Timing bound = rounds.time(small(2), 4);
  EXPECT_EQ(bound.cycles, 35);
  EXPECT_EQ(bound.placement.sm, (std::vector<std::uint32_t>{0, 0, 0, 0}));
  EXPECT_EQ(bound.split.idle, 35);
  rounds.schedule.spread = true;
  const Timing spread = rounds.time(small(2), 4);
  EXPECT_EQ(spread.cycles, 35);
  EXPECT_EQ(spread.placement.sm, (std::vector<std::uint32_t>{0, 1, 0, 1}));
}

TEST(TimeSchedule, FixedUnitsStayOnTheirSm) {
  Case fixed;
  fixed.unit(1).round({shade(10)}).unit(1).round({shade(10)}).unit(0).round({shade(1)});
  const Timing timing = fixed.time(small(2), 1);
  EXPECT_EQ(timing.cycles, 20);
  EXPECT_EQ(timing.placement.sm, (std::vector<std::uint32_t>{1, 1, 0}));
}

TEST(TimeSchedule, WithheldSmsRunNothing) {
  Case two;
  two.unit().round({shade(10)}).unit().round({shade(10)});
  const Timing timing = two.time(small(3), 1, {.withheld_sms = 2});
  EXPECT_EQ(timing.cycles, 20);
  EXPECT_EQ(timing.placement.sm, (std::vector<std::uint32_t>{2, 2}));
  EXPECT_EQ(timing.split.withheld, 40);
  EXPECT_EQ(sum(timing.split), 60);
}

// Second round: 10 of shading, 3 for the cut, 4 for the exchange, 2 · 8 + 32 · 1 = 48 bytes at 2 a cycle.
TEST(TimeSchedule, FormedWarpsAreCharged) {
  Case exchanged;
  exchanged.unit().round({shade(10), shade(10)}, 2).round({shade(10)}, 2);
  const Charges charges = {
      .cycles_per_warp = 4, .cycles_per_cut = 3, .bytes_per_moved = 8, .bytes_per_thread = 1, .bytes_per_cycle = 2};
  const Timing timing = exchanged.time(small(1), 4, charges);
  EXPECT_EQ(timing.cycles, 10 + 10 + 3 + 4 + 24);
  EXPECT_EQ(timing.traffic_bytes, 48);
  EXPECT_EQ(timing.split.reorder, 31);
  // A unit of one warp exchanges nothing: only the cut is charged.
  Case alone;
  alone.unit().round({shade(10)}).round({shade(10)});
  EXPECT_EQ(alone.time(small(1), 4, charges).cycles, 10 + 10 + 3 + 16);
}

TEST(TimeSchedule, ExtraCostGoesToHits) {
  Case hit;
  hit.unit().round({shade(10, 1)});
  EXPECT_EQ(hit.time(small(1), 4, {}, {.hit_issue = 5, .latency_per_issue = 6}).cycles, 40);
}

TEST(TimeSchedule, JobsWithoutCostEndAtOnce) {
  Case free;
  free.unit().round({Job{}, Job{}, Job{}}).round({Job{}}).unit().round({shade(7)});
  const Timing timing = free.time(small(1), 1);
  EXPECT_EQ(timing.cycles, 7);
  EXPECT_EQ(timing.placement.end[3], 0);
}

TEST(TimeSchedule, NoSmsLeftIsAnError) {
  Case one;
  one.unit().round({shade(1)});
  try {
    (void)one.time(small(2), 1, {.withheld_sms = 2});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage);
    EXPECT_NE(std::string(error.what()).find("2 withheld"), std::string::npos) << error.what();
  }
}

struct RandomCase {
  Case schedule;
  Machine machine;
  std::uint32_t resident = 1;
  Charges charges;
  machine::Extra extra;
};

double fraction(Random& random) {
  return static_cast<double>(random.bits() >> 11) * 0x1p-53;
}

/// Costs with all bits of a double, so that jobs end at one time only if they end for the same reason.
RandomCase random_case(std::uint64_t seed) {
  Random random(seed);
  RandomCase result;
  result.machine = small(1 + random.below(6));
  result.machine.issue_per_cycle = 0.2 + 2 * fraction(random);
  result.machine.rt_steps_per_cycle = 0.2 + 2 * fraction(random);
  result.resident = 1 + random.below(5);
  result.schedule.schedule.spread = random.one_in(2);
  const bool fixed = random.one_in(3);
  for (std::uint32_t units = random.below(12); units > 0; --units) {
    result.schedule.unit(fixed && !random.one_in(3) ? random.below(8) : kAnySm);
    for (std::uint32_t rounds = 1 + random.below(4); rounds > 0; --rounds) {
      std::vector<Job> jobs;
      for (std::uint32_t warps = (rounds == 1 ? 1 : 0) + random.below(5); warps > 0; --warps) {
        Job job;
        if (!random.one_in(12)) {
          job.shading = 100 * fraction(random);
          job.traversal = random.one_in(3) ? 0 : 100 * fraction(random);
          job.issue = random.one_in(4) ? 0 : 150 * fraction(random);
          job.visits = random.one_in(4) ? 0 : 150 * fraction(random);
        }
        jobs.push_back(job);
      }
      result.schedule.round(jobs, random.below(33), random.below(33));
    }
  }
  if (random.one_in(2)) {
    result.charges = {.cycles_per_warp = 20 * fraction(random),
                      .cycles_per_cut = random.one_in(2) ? 0 : 20 * fraction(random),
                      .bytes_per_moved = 5 * fraction(random),
                      .bytes_per_thread = random.one_in(2) ? 0 : 5 * fraction(random),
                      .bytes_per_cycle = random.one_in(2) ? 0 : 3 * fraction(random) + 0.1,
                      .withheld_sms = random.below(result.machine.sms)};
  }
  if (random.one_in(3)) {
    result.extra = {.hit_issue = 50 * fraction(random), .latency_per_issue = 1 + 6 * fraction(random)};
  }
  return result;
}

void expect_near(double a, double b, double scale, const char* what) {
  EXPECT_NEAR(a, b, 1e-9 * std::max(1.0, scale)) << what;
}

TEST(TimeSchedule, IsThatOfTheSlowTwin) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random = random_case(seed);
    const Timing fast = random.schedule.time(random.machine, random.resident, random.charges, random.extra);
    const Timing slow = slow_time_schedule(random.schedule.schedule, random.schedule.workload, random.machine,
                                           random.resident, random.charges, random.extra);
    ASSERT_EQ(fast.placement.sm, slow.placement.sm);
    ASSERT_EQ(fast.placement.slot, slow.placement.slot);
    const double scale = slow.cycles;
    for (std::size_t job = 0; job < fast.placement.end.size(); ++job) {
      expect_near(fast.placement.start[job], slow.placement.start[job], scale, "start");
      expect_near(fast.placement.end[job], slow.placement.end[job], scale, "end");
    }
    expect_near(fast.cycles, slow.cycles, scale, "cycles");
    expect_near(fast.milliseconds, slow.milliseconds, slow.milliseconds, "milliseconds");
    expect_near(fast.tail_cycles, slow.tail_cycles, scale, "tail");
    expect_near(fast.traffic_bytes, slow.traffic_bytes, slow.traffic_bytes, "traffic");
    expect_near(fast.busy_share, slow.busy_share, 1, "busy");
    const double all = scale * random.machine.sms;
    expect_near(fast.split.shading, slow.split.shading, all, "shading");
    expect_near(fast.split.traversal, slow.split.traversal, all, "traversal");
    expect_near(fast.split.reorder, slow.split.reorder, all, "reorder");
    expect_near(fast.split.idle, slow.split.idle, all, "idle");
    expect_near(fast.split.withheld, slow.split.withheld, all, "withheld");
    for (std::size_t r = 0; r < 3; ++r) {
      expect_near(fast.limited[r], slow.limited[r], 1, "limited");
    }
    if (HasFailure()) {
      return;
    }
  }
}

TEST(TimeSchedule, TheSplitIsAllOfTheMachine) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random = random_case(seed);
    const Timing timing = random.schedule.time(random.machine, random.resident, random.charges, random.extra);
    EXPECT_NEAR(sum(timing.split), timing.cycles * random.machine.sms,
                1e-9 * std::max(1.0, timing.cycles * random.machine.sms));
  }
}

// No resource is ever asked for more than there is, so no run is shorter than its needs; and none is longer than all of
// its jobs one after another.
TEST(TimeSchedule, LiesBetweenItsBounds) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomCase random = random_case(seed);
    random.charges = {};
    random.extra = {};
    const Timing timing = random.schedule.time(random.machine, random.resident);
    Job total;
    double serial = 0;
    for (const Job& job : random.schedule.workload.jobs) {
      total.issue += job.issue;
      total.visits += job.visits;
      serial += std::max(
          {job.solo(), job.issue / random.machine.issue_per_cycle, job.visits / random.machine.rt_steps_per_cycle});
    }
    const Timing bound = machine::time_bound(total, random.machine, {});
    EXPECT_GE(timing.cycles, bound.cycles * (1 - 1e-9));
    EXPECT_LE(timing.cycles, serial * (1 + 1e-9));
  }
}

// With a machine that never holds anybody back, a unit takes the sum of its rounds' longest jobs.
TEST(TimeSchedule, WithoutLimitsTheLongestChainCounts) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    RandomCase random = random_case(seed);
    random.machine = small(100);
    random.machine.issue_per_cycle = random.machine.rt_steps_per_cycle = 1e6;
    const SegmentSchedule& schedule = random.schedule.schedule;
    double longest = 0;
    for (std::size_t unit = 0; unit < schedule.units(); ++unit) {
      double chain = 0;
      for (std::uint64_t round = schedule.unit_begin[unit]; round < schedule.unit_begin[unit + 1]; ++round) {
        double most = 0;
        for (std::uint64_t warp = schedule.round_begin[round]; warp < schedule.round_begin[round + 1]; ++warp) {
          most = std::max(most, random.schedule.workload.jobs[warp].solo());
        }
        chain += most;
      }
      longest = std::max(longest, chain);
    }
    EXPECT_NEAR(random.schedule.time(random.machine, 1000).cycles, longest, 1e-9 * std::max(1.0, longest));
  }
}

TEST(TimeBound, IsTheBusiestResource) {
  Machine machine = small(4);
  const Timing timing =
      machine::time_bound({.shading = 30, .traversal = 10, .issue = 100, .visits = 40}, machine, {.withheld_sms = 2});
  EXPECT_EQ(timing.cycles, 50);
  EXPECT_EQ(timing.limited[0], 1);
  EXPECT_EQ(timing.split.shading, 75);
  EXPECT_EQ(timing.split.traversal, 25);
  EXPECT_EQ(timing.split.withheld, 100);
}

}  // namespace
}  // namespace rayreplay::test
