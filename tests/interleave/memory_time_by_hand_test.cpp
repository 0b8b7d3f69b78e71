// Memory time worked out by hand: each state of a warp, each server, each rule of work (docs/schedules.md).
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/machine/interleave.hpp"
#include "tests/interleave/hand_made.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::machine::memory_time {
namespace {

using memory::WarpWork;
using test::hand_made;
using test::Issued;
using test::KeptSource;
using test::load;
using test::Outcome;
using test::plan_of;
using test::play;
using test::Played;
using test::Step;
using test::store;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kHit = Outcome::Hit;
constexpr auto kMerged = Outcome::Merged;
constexpr auto kL2 = Outcome::L2;
constexpr auto kDram = Outcome::Dram;
constexpr auto kStore = Outcome::Store;

/// A hit takes 4 cycles, the L2 20, DRAM 50, a test none beyond its turn; four partitions start an instruction a
/// cycle each; bandwidth is next to unlimited.
Machine machine_of(std::uint32_t sms = 1) {
  Machine machine = test::machine_by_hand(sms);
  machine.name = "m";
  machine.rt_test_latency_cycles = 0;
  machine.clock_mhz = 1;
  machine.l2_bytes_per_second = 1e16;
  machine.dram_bytes_per_second = 1e15;
  return machine;
}

InterleaveOptions slots(std::uint32_t resident) {
  return {.resident_warps = resident, .work = true};
}

constexpr std::uint32_t kOne = memory::kIssueScale;  // instruction
constexpr WarpWork kNothing;
constexpr WarpWork kFollows = {.follows = true};

WarpWork shader(std::uint32_t instructions, std::uint32_t latency = 0) {
  return {.issue = instructions * kOne, .latency = latency};
}
WarpWork tests(std::uint16_t boxes, std::uint16_t triangles = 0) {
  return {.visits = static_cast<std::uint16_t>(boxes + triangles), .boxes = boxes, .triangles = triangles};
}

struct Item {
  std::vector<Step> steps;
  std::vector<WarpWork> work;  ///< rows left out are empty
};

KeptSource source_of(const std::vector<Item>& items) {
  std::vector<std::vector<Step>> steps;
  steps.reserve(items.size());
  for (const Item& item : items) {
    steps.push_back(item.steps);
  }
  KeptSource source = hand_made(steps);
  for (std::size_t i = 0; i < items.size(); ++i) {
    source.streams[i].work = items[i].work;
    source.streams[i].work.resize(source.streams[i].instructions() + 1);
  }
  return source;
}

/// All items on SMs of one queue.
Played played_of(const std::vector<Item>& items, const Machine& machine, const InterleaveOptions& options) {
  KeptSource source = source_of(items);
  return play(source, plan_of(static_cast<std::uint32_t>(items.size())), machine, options);
}

using Waits = std::array<std::uint64_t, kWarpWaits>;
/// Reorder, Issue, Traversal, LoadUnit, L1, Merged, L2, Dram.
const Waits& waits_of(const Played& played, std::size_t sm = 0) {
  return played.result.time.sms.at(sm).waits;
}

TEST(MemoryTimeByHand, OneWarpGoesThroughItsStates) {
  KeptSource source =
      source_of({{{load({0}), load({0}), store({0})}, {shader(10, 60), tests(8), kNothing, shader(5)}}});
  const std::vector<std::uint32_t> delay = {7};
  InterleaveOptions options = slots(1);
  options.start_delay = delay;
  const Played played = play(source, plan_of(1), machine_of(), options);
  EXPECT_THAT(played.issued, ElementsAre(Issued{67, 0, 0, 0, 0, kDram},  // back at 117, tests until 125
                                         Issued{125, 0, 0, 1, 0, kHit},  // 129
                                         Issued{129, 0, 0, 2, 0, kStore}));
  EXPECT_EQ(waits_of(played), (Waits{7, 65, 8, 0, 5, 0, 0, 50}));
  EXPECT_EQ(played.result.cycles, 135U);
  EXPECT_THAT(played.result.sm_last_cycle, ElementsAre(135U));
  EXPECT_EQ(played.result.time.sms[0].busy, 135U);
  EXPECT_EQ(played.result.time.issue_cycles, 15);
  EXPECT_EQ(played.result.time.ray_unit_cycles, 8);
}

TEST(MemoryTimeByHand, AClauseIsInTheStateOfItsFarthestData) {
  KeptSource source = source_of({{{load({0})}, {}}, {{load({0})}, {}}, {{load({0})}, {}}});
  const Played played = play(source, plan_of(3, 2, {0, 0, 1}), machine_of(2), slots(2));
  EXPECT_THAT(played.issued,
              ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{0, 1, 2, 0, 0, kL2}, Issued{1, 0, 1, 0, 0, kMerged}));
  EXPECT_EQ(waits_of(played, 0), (Waits{0, 0, 0, 1, 0, 49, 0, 50}));
  EXPECT_EQ(waits_of(played, 1), (Waits{0, 0, 0, 0, 0, 0, 50, 0}));
  // A hit after a miss does not bring the clause nearer, a miss after a hit takes it farther.
  const Played mixed = played_of({{{load({0}), load({0, 1}), load({1, 2}), load({1, 0})}, {}}}, machine_of(), slots(1));
  EXPECT_EQ(waits_of(mixed), (Waits{0, 0, 0, 3, 4, 0, 0, 150}));
}

TEST(MemoryTimeByHand, WaitingForTheLoadUnitIsAState) {
  Machine machine = machine_of();
  machine.outstanding_misses = 1;
  const Played played = played_of({{{load({0})}, {}}, {{load({1})}, {}}}, machine, slots(2));
  EXPECT_EQ(played.result.cycles, 100U);
  EXPECT_EQ(waits_of(played), (Waits{0, 0, 0, 50, 0, 0, 0, 100}));
}

TEST(MemoryTimeByHand, SlotsShareThePartitions) {
  Machine machine = machine_of();
  machine.issue_partitions = 2;
  machine.issue_per_cycle = 1;
  const std::vector<Item> items(3, {{store({0})}, {shader(2)}});
  const Played played = played_of(items, machine, slots(3));
  EXPECT_THAT(played.issued,
              ElementsAre(Issued{4, 0, 0, 0, 0, kStore}, Issued{5, 0, 1, 0, 0, kStore}, Issued{8, 0, 2, 0, 0, kStore}));
  EXPECT_EQ(waits_of(played), (Waits{0, 16, 0, 1, 3, 0, 0, 0}));
  EXPECT_EQ(played.result.time.issue_cycles, 12);
}

TEST(MemoryTimeByHand, InstructionsTakeTheirLatencyFromTheirTurn) {
  Machine machine = machine_of();
  machine.issue_partitions = 1;
  machine.issue_per_cycle = 0.5;
  const std::vector<Item> items(2, {{store({0})}, {shader(2, 9)}});
  const Played played = played_of(items, machine, slots(2));
  EXPECT_THAT(played.issued, ElementsAre(Issued{9, 0, 0, 0, 0, kStore}, Issued{13, 0, 1, 0, 0, kStore}));
}

TEST(MemoryTimeByHand, FractionsOfACycleAddUp) {
  Machine machine = machine_of();
  machine.issue_partitions = 1;
  machine.issue_per_cycle = 3;
  const std::vector<Item> items(4, {{}, {shader(1)}});
  const Played played = played_of(items, machine, slots(4));
  EXPECT_EQ(waits_of(played), (Waits{0, 5, 0, 0, 0, 0, 0, 0})) << "1, 1, 1 and 2";
  EXPECT_EQ(played.result.cycles, 2U);
}

TEST(MemoryTimeByHand, LatencyWithoutInstructionsTakesNoSlot) {
  const Played played = played_of({{{}, {{.latency = 30}}}}, machine_of(), slots(1));
  EXPECT_EQ(played.result.cycles, 30U);
  EXPECT_EQ(played.result.time.issue_cycles, 0);
}

TEST(MemoryTimeByHand, TheRayUnitCountsVisitsOrBoxesAndTriangles) {
  Machine machine = machine_of();
  machine.rt_steps_per_cycle = 2;
  machine.rt_test_latency_cycles = 6.4;
  const std::vector<Item> items(2, {{store({0})}, {tests(4, 2)}});
  const Played visits = played_of(items, machine, slots(2));
  EXPECT_THAT(visits.issued, ElementsAre(Issued{9, 0, 0, 0, 0, kStore}, Issued{12, 0, 1, 0, 0, kStore}));
  machine.rt_boxes_per_cycle = 2;
  machine.rt_triangles_per_cycle = 0.5;
  const Played kinds = played_of(items, machine, slots(2));
  EXPECT_THAT(kinds.issued, ElementsAre(Issued{12, 0, 0, 0, 0, kStore}, Issued{18, 0, 1, 0, 0, kStore}));
  EXPECT_EQ(waits_of(kinds), (Waits{0, 0, 30, 0, 2, 0, 0, 0}));
  EXPECT_EQ(kinds.result.time.ray_unit_cycles, 12);
}

TEST(MemoryTimeByHand, SoftwareTraversalTakesIssueSlots) {
  Machine machine = machine_of();
  machine.software_traversal = true;
  machine.rt_steps_per_cycle = 16;  // 32 · 4 / 16 = 8 instructions a step
  machine.rt_rays = 1;              // of no unit
  WarpWork begin = tests(1);
  begin.rays_begin = 2;
  const Played played =
      played_of({{{store({0})}, {begin, {.rays_end = 2}}}, {{store({0})}, {shader(1)}}}, machine, slots(2));
  EXPECT_THAT(played.issued, ElementsAre(Issued{1, 0, 1, 0, 0, kStore}, Issued{8, 0, 0, 0, 0, kStore}));
  EXPECT_EQ(waits_of(played), (Waits{0, 1, 8, 0, 2, 0, 0, 0}));
  EXPECT_EQ(played.result.time.issue_cycles, 9);
  EXPECT_EQ(played.result.time.ray_unit_cycles, 0);
  // The latency of the tests counts from their turn.
  machine.rt_test_latency_cycles = 26;
  EXPECT_EQ(played_of({{{}, {tests(1)}}}, machine, slots(1)).result.cycles, 26U);
}

TEST(MemoryTimeByHand, RaysWaitForTheUnitInTheirOrder) {
  Machine machine = machine_of();
  machine.rt_rays = 40;
  const auto trace = [](std::uint64_t line, std::uint16_t rays) {
    return Item{{load({line})}, {{.rays_begin = rays}, {.rays_end = rays}}};
  };
  // The third would fit from the beginning, but its turn is after the second's.
  const Played played = played_of({trace(0, 32), trace(1, 32), trace(2, 8)}, machine, slots(3));
  EXPECT_THAT(played.issued,
              ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{50, 0, 1, 0, 1, kDram}, Issued{51, 0, 2, 0, 2, kDram}));
  EXPECT_EQ(waits_of(played), (Waits{0, 0, 100, 1, 0, 0, 0, 150}));
  // More rays than the unit holds: alone.
  const Played alone = played_of({trace(0, 64), trace(1, 1)}, machine, slots(2));
  EXPECT_THAT(alone.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{50, 0, 1, 0, 1, kDram}));
  machine.rt_rays = 0;
  EXPECT_EQ(played_of({trace(0, 64), trace(1, 1)}, machine, slots(2)).result.cycles, 51U);
}

TEST(MemoryTimeByHand, RaysEndBehindTheTestsAndBeginBehindTheShader) {
  Machine machine = machine_of();
  machine.rt_rays = 1;
  WarpWork end = tests(3);
  end.rays_end = 1;
  end.issue = 5 * kOne;
  const Item trace = {{store({0})}, {{.issue = 2 * kOne, .rays_begin = 1}, end}};
  const Played played = played_of({trace, trace}, machine, slots(2));
  // The first ends its store at 3 and its tests at 6; the second has waited since 2.
  EXPECT_THAT(played.issued, ElementsAre(Issued{2, 0, 0, 0, 0, kStore}, Issued{6, 0, 1, 0, 0, kStore}));
  EXPECT_EQ(waits_of(played), (Waits{0, 14, 3 + 4 + 3, 0, 2, 0, 0, 0}));
  EXPECT_EQ(played.result.cycles, 15U);
}

TEST(MemoryTimeByHand, InstructionsThatFollowDoNotWait) {
  InterleaveOptions options = slots(1);
  options.compute_cycles = 10;
  const Item item = {{load({0}), load({1, 2}), load({1})}, {kNothing, kFollows}};
  const Played played = played_of({item}, machine_of(), options);
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{1, 0, 0, 1, 1, kDram},
                                         Issued{2, 0, 0, 1, 2, kDram},  // all back at 52, and 10 cycles of compute
                                         Issued{62, 0, 0, 2, 1, kHit}));
  EXPECT_EQ(waits_of(played), (Waits{0, 10, 0, 2, 4, 0, 0, 50}));
}

TEST(MemoryTimeByHand, TheSchedulerChoosesAnewWithinAClause) {
  const Item item = {{store({0}), store({0})}, {kNothing, kFollows}};
  const Played played = played_of({item, item}, machine_of(), slots(2));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kStore}, Issued{1, 0, 1, 0, 0, kStore},
                                         Issued{2, 0, 0, 1, 0, kStore}, Issued{3, 0, 1, 1, 0, kStore}));
  EXPECT_EQ(waits_of(played), (Waits{0, 0, 0, 5, 2, 0, 0, 0}));
}

// Windows are of 20 cycles: the clause's second miss waits for the first one's return at 50.
TEST(MemoryTimeByHand, AClauseGoesOnAcrossWindows) {
  Machine machine = machine_of();
  machine.outstanding_misses = 1;
  const Item item = {{load({0}), load({1}), load({1})}, {kNothing, kFollows, tests(1)}};
  const Played played = played_of({item}, machine, slots(1));
  EXPECT_THAT(played.issued,
              ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{50, 0, 0, 1, 1, kDram}, Issued{101, 0, 0, 2, 1, kHit}));
  EXPECT_EQ(waits_of(played), (Waits{0, 0, 1, 50, 4, 0, 0, 50}));
  // The next access is a hit of another window: the clause still waits for memory.
  const Item hits = {{load({0}), load({1}), load({0})}, {kNothing, kNothing, kFollows}};
  EXPECT_EQ(waits_of(played_of({hits}, machine, slots(1))), (Waits{0, 0, 0, 1, 0, 0, 0, 99}));
}

TEST(MemoryTimeByHand, ComputeCyclesCountAsIssue) {
  InterleaveOptions options = slots(1);
  options.compute_cycles = 10;
  const Played played = played_of({{{load({0}), load({0})}, {shader(1), shader(2), shader(3)}}}, machine_of(), options);
  EXPECT_THAT(played.issued, ElementsAre(Issued{1, 0, 0, 0, 0, kDram}, Issued{63, 0, 0, 1, 0, kHit}));
  EXPECT_EQ(played.result.cycles, 70U);
  EXPECT_EQ(waits_of(played), (Waits{0, 16, 0, 0, 4, 0, 0, 50}));
}

/// Bandwidths in bytes a cycle.
Machine with_bandwidth(double l2, double dram, std::uint32_t sms) {
  Machine machine = machine_of(sms);
  machine.l2_bytes_per_second = l2 * 1e6;
  machine.dram_bytes_per_second = dram * 1e6;
  return machine;
}

TEST(MemoryTimeByHand, MissesQueueForTheBandwidthOfL2AndMemory) {
  std::vector<Item> items;
  for (std::uint64_t line = 0; line < 3; ++line) {
    items.push_back({{load({{line, 0b1111}}), store({8})}, {}});
  }
  const Played played = played_of(items, with_bandwidth(64, 32, 3), slots(1));
  // The L2 begins at 0, 2 and 4, memory at 0, 4 and 8.
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{0, 1, 1, 0, 1, kDram},
                                         Issued{0, 2, 2, 0, 2, kDram}, Issued{50, 0, 0, 1, 8, kStore},
                                         Issued{54, 1, 1, 1, 8, kStore}, Issued{58, 2, 2, 1, 8, kStore}));
  EXPECT_EQ(played.result.time.l2_bytes, 3 * 128 + 3 * 32U);
  EXPECT_EQ(played.result.time.dram_bytes, 3 * 128U);
  EXPECT_EQ(played.result.time.l2_cycles, 7.5);
  EXPECT_EQ(played.result.time.dram_cycles, 12);
}

TEST(MemoryTimeByHand, HitsOfTheL2WaitForItsBandwidthToo) {
  const Item writer = {{store({{0, 0b1111}}), store({{1, 0b1111}})}, {}};
  const Item reader = {{load({{0, 0b0001}}), store({9})}, {shader(1)}};
  // The stores take the L2 from 0 to 4 and from 4 to 8: the load of cycle 1 begins at 8.
  const Played played = played_of({writer, reader}, with_bandwidth(32, 1e6, 2), slots(1));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kStore}, Issued{1, 0, 0, 1, 1, kStore},
                                         Issued{1, 1, 1, 0, 0, kL2}, Issued{28, 1, 1, 1, 9, kStore}));
  EXPECT_EQ(waits_of(played, 1), (Waits{0, 1, 0, 0, 1, 0, 27, 0}));
}

TEST(MemoryTimeByHand, OnlyMissingSectorsComeFromMemory) {
  // Sector 0 is stored; of the four that the load asks for, the L2 lacks three.
  const Played played =
      played_of({{{store({{0, 0b0001}}), load({{0, 0b1111}})}, {}}}, with_bandwidth(32, 32, 1), slots(1));
  EXPECT_EQ(played.result.time.l2_bytes, 5 * 32U);
  EXPECT_EQ(played.result.time.dram_bytes, 3 * 32U);
}

TEST(MemoryTimeByHand, WithoutAnL2MemoryServesAll) {
  Machine machine = with_bandwidth(1, 64, 2);
  machine.l2_bytes = 0;
  const Item writer = {{store({{0, 0b1111}})}, {}};
  const Item reader = {{load({{1, 0b0011}}), store({9})}, {}};
  const Played played = played_of({writer, reader}, machine, slots(1));
  EXPECT_THAT(played.issued,
              ElementsAre(Issued{0, 0, 0, 0, 0, kStore}, Issued{0, 1, 1, 0, 1, kDram}, Issued{52, 1, 1, 1, 9, kStore}));
  EXPECT_EQ(played.result.time.l2_bytes, 0U);
  EXPECT_EQ(played.result.time.dram_bytes, 128 + 64 + 32U);
  EXPECT_EQ(played.result.time.dram_cycles, 3.5);
}

TEST(MemoryTimeByHand, ItemsWithoutAccessesLastAsLongAsTheirWork) {
  const Item idle;
  const Item works = {{}, {shader(6)}};
  const Item stores = {{store({0})}, {}};
  // One slot: the idle items take no time; with a delay, one occupies the slot.
  const Played played = played_of({idle, works, idle, stores}, machine_of(), slots(1));
  EXPECT_THAT(played.issued, ElementsAre(Issued{6, 0, 3, 0, 0, kStore}));
  EXPECT_EQ(played.result.items, 4U);
  KeptSource source = source_of({idle, works, idle, stores});
  const std::vector<std::uint32_t> delays = {5, 0, 0, 2};
  InterleaveOptions options = slots(1);
  options.start_delay = delays;
  const Played delayed = play(source, plan_of(4), machine_of(), options);
  EXPECT_THAT(delayed.issued, ElementsAre(Issued{13, 0, 3, 0, 0, kStore}));
  EXPECT_EQ(waits_of(delayed), (Waits{7, 6, 0, 0, 1, 0, 0, 0}));
}

TEST(MemoryTimeByHand, SmsAreBusyAtABarrierOrIdle) {
  // Two rounds on any SM: the second starts an L2 latency after the first has ended.
  scheduler::SegmentSchedule schedule;
  schedule.warp_size = 1;
  schedule.moved.resize(2);
  schedule.spread = true;
  schedule.round_begin = {0, 1, 2};
  schedule.unit_begin = {0, 2};
  schedule.unit_sm = {scheduler::kAnySm};
  const Machine machine = machine_of(2);
  KeptSource source = source_of({{{load({0})}, {}}, {{store({0})}, {kNothing, shader(3)}}});
  const Played played = play(source, *dispatch_schedule(schedule, machine, 0), machine, slots(1));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{70, 0, 1, 0, 0, kStore}));
  EXPECT_EQ(played.result.cycles, 74U);
  ASSERT_EQ(played.result.time.sms.size(), 2U);
  const SmTime& ran = played.result.time.sms[0];
  EXPECT_EQ(ran.busy, 54U);
  EXPECT_EQ(ran.barrier, 20U);
  EXPECT_EQ(ran.idle, 0U);
  EXPECT_EQ(played.result.time.sms[1], (SmTime{.waits = {}, .busy = 0, .barrier = 0, .idle = 74}));
}

TEST(MemoryTimeByHand, WithoutWorkThereIsNoTime) {
  KeptSource source = source_of({{{load({0})}, {shader(100)}}});
  const Played played = play(source, plan_of(1), machine_of(), {.resident_warps = 1});
  EXPECT_EQ(played.result.cycles, 50U);
  EXPECT_TRUE(played.result.time.sms.empty());
  EXPECT_EQ(played.result.time.l2_bytes, 0U);
}

ErrorInfo refused(ErrorKind kind, const Item& item, const Machine& machine, const InterleaveOptions& options) {
  KeptSource source = source_of({item});
  source.streams[0].work = item.work;
  return test::error_of(kind, [&] { (void)play(source, plan_of(1), machine, options); });
}

TEST(MemoryTimeErrors, StreamsWithoutSoundWork) {
  const auto broken = [](std::vector<Step> steps, std::vector<WarpWork> work) {
    return refused(ErrorKind::Internal, {std::move(steps), std::move(work)}, machine_of(), slots(1)).what;
  };
  EXPECT_EQ(refused(ErrorKind::Usage, {{load({0})}, {}}, machine_of(), slots(1)).what,
            "the work of a warp is wanted, but not kept");
  const char* const breach = "the work of a warp breaks its contract";
  EXPECT_EQ(broken({load({0})}, {kNothing}), breach);
  EXPECT_EQ(broken({load({0})}, {kFollows, kNothing}), breach);
  EXPECT_EQ(broken({load({0})}, {kNothing, kFollows}), breach);
  EXPECT_EQ(broken({load({0}), load({1})}, {kNothing, {.issue = 1, .follows = true}, kNothing}), breach);
  EXPECT_EQ(broken({load({0})}, {{.rays_begin = 1}, kNothing}), breach);
  EXPECT_EQ(broken({load({0})}, {kNothing, {.rays_begin = 1}}), breach);
  EXPECT_EQ(broken({load({0})}, {{.rays_end = 1}, kNothing}), breach);
  EXPECT_EQ(broken({load({0}), load({1})}, {{.rays_begin = 2}, {.rays_end = 1, .rays_begin = 1}, {.rays_end = 2}}),
            breach);
}

TEST(MemoryTimeErrors, Machines) {
  const auto where = [](void (*change)(Machine&)) {
    Machine machine = machine_of();
    change(machine);
    const InterleaveOptions without = {.resident_warps = 1};
    KeptSource source = source_of({{}});
    EXPECT_NO_THROW((void)play(source, plan_of(1), machine, without)) << "not read without work";
    return refused(ErrorKind::Usage, {{}, {kNothing}}, machine, slots(1)).where;
  };
  EXPECT_EQ(where([](Machine& m) { m.issue_per_cycle = 0; }), "machine 'm', issue_per_cycle");
  EXPECT_EQ(where([](Machine& m) { m.rt_steps_per_cycle = 0; }), "machine 'm', rt_steps_per_cycle");
  EXPECT_EQ(where([](Machine& m) { m.clock_mhz = 0; }), "machine 'm', clock_mhz");
  EXPECT_EQ(where([](Machine& m) { m.l2_bytes_per_second = 0; }), "machine 'm', l2_bytes_per_second");
  EXPECT_EQ(where([](Machine& m) { m.dram_bytes_per_second = -1; }), "machine 'm', dram_bytes_per_second");
  EXPECT_EQ(where([](Machine& m) { m.issue_partitions = 0; }), "machine 'm', issue_partitions");
  EXPECT_EQ(where([](Machine& m) { m.issue_partitions = 65; }), "machine 'm', issue_partitions");
  EXPECT_EQ(where([](Machine& m) { m.rt_test_latency_cycles = -1; }), "machine 'm', rt_test_latency_cycles");
  EXPECT_THAT(where([](Machine& m) { m.rt_boxes_per_cycle = 1; }), HasSubstr("rt_triangles_per_cycle"));
  EXPECT_THAT(where([](Machine& m) { m.rt_triangles_per_cycle = 1; }), HasSubstr("rt_boxes_per_cycle"));
}

TEST(MemoryTimeErrors, Delays) {
  const std::vector<std::uint32_t> delays = {1, 2};
  InterleaveOptions options = slots(1);
  options.start_delay = delays;
  EXPECT_EQ(refused(ErrorKind::Usage, {{}, {kNothing}}, machine_of(), options).found, "2 delays");
  options.work = false;
  EXPECT_EQ(refused(ErrorKind::Usage, {{}, {kNothing}}, machine_of(), options).what, "delays of warps need their work");
}

TEST(MemoryTimeErrors, TimesTooLong) {
  Machine machine = machine_of();
  machine.issue_per_cycle = 1e-3;
  machine.issue_partitions = 64;
  const WarpWork most = {.issue = ~0U};
  EXPECT_EQ(refused(ErrorKind::Resource, {{}, {most}}, machine, slots(1)).what,
            "a part of a warp's work takes too long");
}

}  // namespace
}  // namespace rayreplay::machine::memory_time
