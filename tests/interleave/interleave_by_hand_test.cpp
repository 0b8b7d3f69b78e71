// Schedules worked out by hand, cycle by cycle: does each rule of sim/machine/interleave.hpp have the effect it says?
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "sim/machine/interleave.hpp"
#include "tests/interleave/hand_made.hpp"

namespace rayreplay::machine {
namespace {

using test::hand_made;
using test::Issued;
using test::load;
using test::machine_by_hand;
using test::Outcome;
using test::plan_of;
using test::play;
using test::Played;
using test::store;
using testing::ElementsAre;

constexpr auto kHit = Outcome::Hit;
constexpr auto kMerged = Outcome::Merged;
constexpr auto kL2 = Outcome::L2;
constexpr auto kDram = Outcome::Dram;
constexpr auto kStore = Outcome::Store;

InterleaveOptions slots(std::uint32_t resident, const std::string& scheduler = "loose-round-robin") {
  return {.warp_scheduler = scheduler, .resident_warps = resident};
}

TEST(InterleaveByHand, OneWarpIsAChainOfLatencies) {
  auto source = hand_made({{load({0}), load({0}), load({1}), store({1}), load({1}), load({2, 3})}});
  const Played played = play(source, plan_of(1), machine_by_hand(1), slots(1));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram},     // back at 50
                                         Issued{50, 0, 0, 1, 0, kHit},     // 54
                                         Issued{54, 0, 0, 2, 1, kDram},    // 104
                                         Issued{104, 0, 0, 3, 1, kStore},  // 105
                                         Issued{105, 0, 0, 4, 1, kHit},    // 109
                                         Issued{109, 0, 0, 5, 2, kDram},   // 159
                                         Issued{110, 0, 0, 5, 3, kDram}));
  EXPECT_EQ(played.result.cycles, 160U);
  EXPECT_EQ(played.result.instructions, 6U);
  EXPECT_EQ(played.result.transactions, 7U);
  EXPECT_EQ(played.result.dram, 4U);
  EXPECT_EQ(played.result.l1_hits, 2U);
  EXPECT_EQ(played.result.mshr_stall_cycles, 0U);
}

TEST(InterleaveByHand, ComputeCyclesComeBehindEachInstructionButTheLast) {
  auto source = hand_made({{load({0}), load({0}), store({0})}});
  InterleaveOptions options = slots(1);
  options.compute_cycles = 10;
  const Played played = play(source, plan_of(1), machine_by_hand(1), options);
  EXPECT_THAT(played.issued,
              ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{60, 0, 0, 1, 0, kHit}, Issued{74, 0, 0, 2, 0, kStore}));
  EXPECT_EQ(played.result.cycles, 75U);
}

TEST(InterleaveByHand, TwoWarpsOverlapTheirLatencies) {
  auto source = hand_made({{load({0}), load({0})}, {load({1}), load({1})}});
  const Played together = play(source, plan_of(2), machine_by_hand(1), slots(2));
  EXPECT_THAT(together.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{1, 0, 1, 0, 1, kDram},
                                           Issued{50, 0, 0, 1, 0, kHit}, Issued{51, 0, 1, 1, 1, kHit}));
  EXPECT_EQ(together.result.cycles, 55U);
  // With one slot the second starts in the cycle in which the first has ended.
  const Played alone = play(source, plan_of(2), machine_by_hand(1), slots(1));
  EXPECT_THAT(alone.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{50, 0, 0, 1, 0, kHit},
                                        Issued{54, 0, 1, 0, 1, kDram}, Issued{104, 0, 1, 1, 1, kHit}));
  EXPECT_EQ(alone.result.cycles, 108U);
}

TEST(InterleaveByHand, AnInstructionHoldsTheLoadUnitForEachOfItsTransactions) {
  auto source = hand_made({{load({0, 1, 2})}, {load({3})}});
  const Played played = play(source, plan_of(2), machine_by_hand(1), slots(2));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{1, 0, 0, 0, 1, kDram},
                                         Issued{2, 0, 0, 0, 2, kDram}, Issued{3, 0, 1, 0, 3, kDram}));
  EXPECT_EQ(played.result.cycles, 53U);
}

TEST(InterleaveByHand, MissesToOneLineMerge) {
  auto source = hand_made({{load({0})}, {load({0})}, {load({0}), load({0})}});
  const Played played = play(source, plan_of(3), machine_by_hand(1), slots(3));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{1, 0, 1, 0, 0, kMerged},
                                         Issued{2, 0, 2, 0, 0, kMerged}, Issued{50, 0, 2, 1, 0, kHit}));
  EXPECT_EQ(played.result.merged, 2U);
  EXPECT_EQ(played.result.dram, 1U);
  EXPECT_EQ(played.result.cycles, 54U);
}

// Line 0 is back at 4; the second warp's load of it, merged at 3, takes the 3 cycles of a hit.
TEST(InterleaveByHand, AMergedLoadTakesAtLeastAHit) {
  auto source = hand_made({{load({0}), store({9})}, {store({8}), store({8}), load({0}), store({7})}});
  Machine machine = machine_by_hand(1);
  machine.l1_latency_cycles = 3;
  machine.l2_latency_cycles = 4;
  machine.dram_latency_cycles = 4;
  const Played played = play(source, plan_of(2), machine, slots(2));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{1, 0, 1, 0, 8, kStore},
                                         Issued{2, 0, 1, 1, 8, kStore}, Issued{3, 0, 1, 2, 0, kMerged},
                                         Issued{4, 0, 0, 1, 9, kStore}, Issued{6, 0, 1, 3, 7, kStore}));
}

// Sectors of a line that are on their way return together, with the last of them.
TEST(InterleaveByHand, SectorsOfOneLineReturnTogether) {
  auto source = hand_made({{load({{0, 0b0001}})}, {load({{0, 0b0100}})}, {load({{0, 0b0001}}), store({5})}});
  const Played played = play(source, plan_of(3), machine_by_hand(1), slots(3));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram},    // back at 50
                                         Issued{1, 0, 1, 0, 0, kDram},    // another sector: 51
                                         Issued{2, 0, 2, 0, 0, kMerged},  // 51, with the line's last
                                         Issued{51, 0, 2, 1, 5, kStore}));
}

TEST(InterleaveByHand, ALoadUnitThatWouldMissOnceMoreWaits) {
  auto source = hand_made({{load({0}), load({0})}, {load({1})}, {load({0})}});
  Machine machine = machine_by_hand(1);
  machine.outstanding_misses = 1;
  const Played played = play(source, plan_of(3), machine, slots(3));
  // At 1 the second warp's miss finds no room and holds the unit until 50: the third warp's merge waits behind it.
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{50, 0, 1, 0, 1, kDram},
                                         Issued{51, 0, 2, 0, 0, kHit}, Issued{52, 0, 0, 1, 0, kHit}));
  EXPECT_EQ(played.result.mshr_stall_cycles, 49U);
  EXPECT_EQ(played.result.cycles, 100U);
  machine.outstanding_misses = 2;
  EXPECT_EQ(play(source, plan_of(3), machine, slots(3)).result.mshr_stall_cycles, 0U);
}

TEST(InterleaveByHand, TheL2HasWhatTheL1HasLost) {
  auto source = hand_made({{load({0}), load({1}), load({0}), load({0})}});
  Machine machine = machine_by_hand(1);
  machine.l1_bytes = 128;  // one line
  const Played played = play(source, plan_of(1), machine, slots(1));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{50, 0, 0, 1, 1, kDram},
                                         Issued{100, 0, 0, 2, 0, kL2}, Issued{120, 0, 0, 3, 0, kHit}));
  EXPECT_EQ(played.result.cycles, 124U);
  EXPECT_EQ(played.result.l2_hits, 1U);
}

TEST(InterleaveByHand, TheL2sLineThatIsOnItsWayIsWaitedFor) {
  auto source = hand_made({{load({0}), load({0})}, {load({0})}, {store({7}), store({7}), load({0})}});
  Machine machine = machine_by_hand(3);
  const Played played = play(source, plan_of(3), machine, slots(1));
  // Three SMs ask the L2 for line 0 in cycles 0, 0 and 2; DRAM returns it at 50 to all.
  EXPECT_THAT(played.issued,
              ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{0, 1, 1, 0, 0, kL2}, Issued{0, 2, 2, 0, 7, kStore},
                          Issued{1, 2, 2, 1, 7, kStore}, Issued{2, 2, 2, 2, 0, kL2}, Issued{50, 0, 0, 1, 0, kHit}));
  EXPECT_THAT(played.result.sm_last_cycle, ElementsAre(54U, 50U, 50U));
  EXPECT_THAT(played.result.sm_instructions, ElementsAre(2U, 1U, 3U));
}

TEST(InterleaveByHand, AStoreFillsTheL2AndNotTheL1) {
  auto source = hand_made({{store({0}), load({0}), load({0})}});
  const Played played = play(source, plan_of(1), machine_by_hand(1), slots(1));
  EXPECT_THAT(played.issued,
              ElementsAre(Issued{0, 0, 0, 0, 0, kStore}, Issued{1, 0, 0, 1, 0, kL2}, Issued{21, 0, 0, 2, 0, kHit}));
}

// The L1 has two lines. The store to line 0 makes it the last used one, so that line 2 takes the place of line 1.
TEST(InterleaveByHand, AStoreKeepsItsLineInTheL1) {
  auto source = hand_made({{load({0}), load({1}), store({0}), load({2}), load({0}), load({1})}});
  Machine machine = machine_by_hand(1);
  machine.l1_bytes = std::uint64_t{2} * 128;
  const Played played = play(source, plan_of(1), machine, slots(1));
  EXPECT_EQ(played.issued[4].outcome, kHit);
  EXPECT_EQ(played.issued[5].outcome, kL2);
}

TEST(InterleaveByHand, WithoutL1EveryLoadIsAMissAndNothingMerges) {
  auto source = hand_made({{load({0}), load({0})}, {load({0})}});
  Machine machine = machine_by_hand(1);
  machine.l1_bytes = 0;
  const Played played = play(source, plan_of(2), machine, slots(2));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{1, 0, 1, 0, 0, kL2},  // back at 50
                                         Issued{50, 0, 0, 1, 0, kL2}));
  EXPECT_EQ(played.result.cycles, 70U);
  // With one outstanding miss the second warp waits from 1 to 50, then the first from 51 to 70.
  machine.outstanding_misses = 1;
  const Played waiting = play(source, plan_of(2), machine, slots(2));
  EXPECT_THAT(waiting.issued,
              ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{50, 0, 1, 0, 0, kL2}, Issued{70, 0, 0, 1, 0, kL2}));
  EXPECT_EQ(waiting.result.mshr_stall_cycles, 49U + 19U);
}

TEST(InterleaveByHand, WithoutL2DramServesEveryMiss) {
  auto source = hand_made({{load({0}), load({1}), store({1}), load({0})}});
  Machine machine = machine_by_hand(1);
  machine.l1_bytes = 128;
  machine.l2_bytes = 0;
  const Played played = play(source, plan_of(1), machine, slots(1));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{50, 0, 0, 1, 1, kDram},
                                         Issued{100, 0, 0, 2, 1, kStore}, Issued{101, 0, 0, 3, 0, kDram}));
  EXPECT_EQ(played.result.cycles, 151U);
}

/// Cycle by cycle, the item that issues.
std::vector<std::uint32_t> turns(const std::vector<std::vector<test::Step>>& items, std::uint32_t resident,
                                 const std::string& scheduler) {
  auto source = hand_made(items);
  const Played played =
      play(source, plan_of(static_cast<std::uint32_t>(items.size())), machine_by_hand(1), slots(resident, scheduler));
  std::vector<std::uint32_t> order;
  for (const Issued& issued : played.issued) {
    EXPECT_EQ(issued.cycle, order.size()) << "a cycle without work";
    order.push_back(issued.item);
  }
  return order;
}

// Stores complete a cycle later: with a warp that stores, another choice is due in every cycle.
TEST(InterleaveByHand, GreedyStaysWhereRoundRobinTakesTurns) {
  const std::vector<std::vector<test::Step>> items(2, std::vector<test::Step>(3, store({0})));
  EXPECT_THAT(turns(items, 2, "loose-round-robin"), ElementsAre(0U, 1U, 0U, 1U, 0U, 1U));
  EXPECT_THAT(turns(items, 2, "greedy-then-oldest"), ElementsAre(0U, 0U, 0U, 1U, 1U, 1U));
}

// Item 3 takes slot 0, which item 0 has left at cycle 1: next in turn after slot 2, but the youngest warp.
TEST(InterleaveByHand, OldestIsNotTheLowestSlot) {
  const std::vector<std::vector<test::Step>> items = {
      {store({0})}, {store({0}), store({0})}, {store({0}), store({0})}, {store({0})}};
  EXPECT_THAT(turns(items, 3, "loose-round-robin"), ElementsAre(0U, 1U, 2U, 3U, 1U, 2U));
  EXPECT_THAT(turns(items, 3, "greedy-then-oldest"), ElementsAre(0U, 1U, 1U, 2U, 2U, 3U));
}

// A warp that waits loses its turn to the oldest, and does not get it back when it is ready again.
TEST(InterleaveByHand, GreedyEndsWhereAWarpWaits) {
  auto source = hand_made({{load({0}), store({1})}, std::vector<test::Step>(52, store({2}))});
  const Played played = play(source, plan_of(2), machine_by_hand(1), slots(2, "greedy-then-oldest"));
  // Item 0 is ready at 50, but item 1 has issued last and is ready in every cycle until its end at 53.
  ASSERT_EQ(played.issued.size(), 54U);
  EXPECT_EQ(played.issued[52], (Issued{52, 0, 1, 51, 2, kStore}));
  EXPECT_EQ(played.issued[53], (Issued{53, 0, 0, 1, 1, kStore}));
  const Played fair = play(source, plan_of(2), machine_by_hand(1), slots(2));
  EXPECT_EQ(fair.issued[50], (Issued{50, 0, 0, 1, 1, kStore}));
}

TEST(InterleaveByHand, OneQueueFeedsTheSmWithFewestWarps) {
  auto source = hand_made(std::vector<std::vector<test::Step>>(5, {load({0})}));
  const Played played = play(source, plan_of(5), machine_by_hand(2), slots(3));
  // 0, 2, 4 to SM 0; 1, 3 to SM 1.
  EXPECT_THAT(played.issued,
              ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{0, 1, 1, 0, 0, kL2}, Issued{1, 0, 2, 0, 0, kMerged},
                          Issued{1, 1, 3, 0, 0, kMerged}, Issued{2, 0, 4, 0, 0, kMerged}));
}

TEST(InterleaveByHand, AQueueForEachSmIsItsOwn) {
  auto source = hand_made({{load({0})}, {load({1})}, {load({0})}, {load({1})}, {load({1})}});
  const Played played = play(source, plan_of(5, 2, {0, 1, 0, 1, 1}), machine_by_hand(2), slots(1));
  EXPECT_THAT(played.issued,
              ElementsAre(Issued{0, 0, 0, 0, 0, kDram}, Issued{0, 1, 1, 0, 1, kDram}, Issued{50, 0, 2, 0, 0, kHit},
                          Issued{50, 1, 3, 0, 1, kHit}, Issued{54, 1, 4, 0, 1, kHit}));
  EXPECT_THAT(played.result.sm_last_cycle, ElementsAre(54U, 58U));
}

TEST(InterleaveByHand, ItemsWithoutInstructionsTakeNoTime) {
  auto source = hand_made({{}, {load({0})}, {}, {load({0})}, {}});
  const Played played = play(source, plan_of(5), machine_by_hand(1), slots(1));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 1, 0, 0, kDram}, Issued{50, 0, 3, 0, 0, kHit}));
  EXPECT_EQ(played.result.items, 5U);
  auto nothing = hand_made({});
  EXPECT_EQ(play(nothing, plan_of(0), machine_by_hand(2), slots(4)).result.cycles, 0U);
}

/// Warp 0 ends at 3, warp 1 on the other SM at 1: the signal leaves at 3, whichever SM was simulated first.
TEST(InterleaveByHand, ASpreadRoundFollowsTheLastEndOfAllSms) {
  auto source = hand_made({{store({0}), store({1}), store({2})}, {store({4})}, {store({5})}, {store({6})}});
  scheduler::SegmentSchedule schedule;
  schedule.warp_size = 1;
  schedule.moved.resize(4);
  schedule.spread = true;
  schedule.round_begin = {0, 2, 4};
  schedule.unit_begin = {0, 2};
  schedule.unit_sm = {scheduler::kAnySm};
  const Machine machine = machine_by_hand(2);
  const Played played = play(source, *dispatch_schedule(schedule, machine, 0), machine, slots(1));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 0, kStore}, Issued{0, 1, 1, 0, 4, kStore},
                                         Issued{1, 0, 0, 1, 1, kStore}, Issued{2, 0, 0, 2, 2, kStore},
                                         Issued{23, 0, 2, 0, 5, kStore}, Issued{23, 1, 3, 0, 6, kStore}));
}

// A hit and a miss by one instruction: it completes with the later.
TEST(InterleaveByHand, AnInstructionCompletesWithItsLastTransaction) {
  auto source = hand_made({{load({1}), load({0, 1}), store({9})}});
  const Played played = play(source, plan_of(1), machine_by_hand(1), slots(1));
  EXPECT_THAT(played.issued, ElementsAre(Issued{0, 0, 0, 0, 1, kDram}, Issued{50, 0, 0, 1, 0, kDram},
                                         Issued{51, 0, 0, 1, 1, kHit}, Issued{100, 0, 0, 2, 9, kStore}));
}

}  // namespace
}  // namespace rayreplay::machine
