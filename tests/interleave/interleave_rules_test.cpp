// What must hold for every interleaving (MODELS.md §12), whatever machine, plan, warp scheduler and stream.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include "sim/machine/interleave.hpp"
#include "tests/interleave/hand_made.hpp"
#include "tests/interleave/random_cases.hpp"

namespace rayreplay::machine {
namespace {

using test::InterleaveCase;
using test::Issued;
using test::KeepingSink;
using test::KeptSource;
using test::play;
using test::Played;

/// As sources of launches do: items in parallel.
class ParallelSource : public KeptSource {
 public:
  explicit ParallelSource(KeptSource source) : KeptSource(std::move(source)) {}
  void generate(std::span<const std::uint32_t> items, std::span<memory::WarpStream> out) override {
    tbb::parallel_for(std::size_t{0}, items.size(), [&](std::size_t i) { out[i] = streams[items[i]]; });
  }
};

struct Example {
  InterleaveCase that;
  KeptSource source;
  WorkPlan plan;
  Played played;
};

Example example(std::uint64_t seed) {
  Example result{test::random_case(seed), {}, {}, {}};
  result.source = test::random_source(result.that.shape, seed);
  result.plan = test::random_plan(result.source.items(), result.that.queues, seed + 1);
  result.played = play(result.source, result.plan, result.that.machine, result.that.options);
  return result;
}

class InterleaveRules : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, InterleaveRules, testing::Range(std::uint64_t{1000}, std::uint64_t{1040}));

TEST_P(InterleaveRules, EveryTransactionComesOnceAndInTheWarpsOwnOrder) {
  Example that = example(GetParam());
  std::vector<std::vector<std::pair<std::uint32_t, std::uint64_t>>> of_item(that.source.items());
  for (const Issued& issued : that.played.issued) {
    of_item[issued.item].emplace_back(issued.instruction, issued.line);
  }
  for (std::uint32_t item = 0; item < that.source.items(); ++item) {
    const memory::WarpStream& stream = that.source.streams[item];
    std::vector<std::pair<std::uint32_t, std::uint64_t>> expected;
    for (std::uint32_t instruction = 0; instruction < stream.instructions(); ++instruction) {
      for (std::uint32_t i = stream.first[instruction]; i < stream.first[instruction + 1]; ++i) {
        expected.emplace_back(instruction, stream.transactions[i].line);
      }
    }
    ASSERT_EQ(of_item[item], expected) << "item " << item;
  }
  EXPECT_EQ(that.source.asked, std::vector<std::uint32_t>(that.source.items(), 1)) << "streams are made once";
}

TEST_P(InterleaveRules, OneTransactionACycleAndSmInOrderOfCycleAndSm) {
  const Example that = example(GetParam());
  for (std::size_t i = 1; i < that.played.issued.size(); ++i) {
    const Issued& before = that.played.issued[i - 1];
    const Issued& now = that.played.issued[i];
    ASSERT_LT(std::pair(before.cycle, before.sm), std::pair(now.cycle, now.sm));
  }
}

/// First and last cycle of an instruction's transactions.
struct Span {
  std::uint64_t first, last;
  bool store;
};

TEST_P(InterleaveRules, WarpsWaitForTheirInstructionsAndSmsKeepToTheirSlots) {
  const Example that = example(GetParam());
  const Machine& machine = that.that.machine;
  std::vector<std::vector<Span>> spans(that.source.items());
  std::vector<std::set<std::uint32_t>> sms(that.source.items());
  for (const Issued& issued : that.played.issued) {
    sms[issued.item].insert(issued.sm);
    if (spans[issued.item].size() <= issued.instruction) {
      spans[issued.item].push_back({issued.cycle, issued.cycle, issued.outcome == test::Outcome::Store});
    }
    spans[issued.item].back().last = issued.cycle;
  }
  const std::uint64_t least =
      std::min({machine.l1_latency_cycles, machine.l2_latency_cycles, machine.dram_latency_cycles});
  std::vector<std::vector<std::pair<std::uint64_t, int>>> changes(machine.sms);  // of warps, by cycle
  for (std::uint32_t item = 0; item < that.source.items(); ++item) {
    for (std::size_t i = 1; i < spans[item].size(); ++i) {
      const Span& before = spans[item][i - 1];
      ASSERT_GE(spans[item][i].first, before.last + (before.store ? 1 : least) + that.that.options.compute_cycles);
    }
    if (!spans[item].empty()) {
      ASSERT_EQ(sms[item].size(), 1U) << "a warp stays on its SM";
      const Span& end = spans[item].back();
      changes[*sms[item].begin()].emplace_back(spans[item].front().first, 1);
      changes[*sms[item].begin()].emplace_back(end.last + (end.store ? 1 : least), -1);
    }
  }
  for (auto& of_sm : changes) {
    std::sort(of_sm.begin(), of_sm.end());
    int warps = 0;
    for (const auto& [cycle, change] : of_sm) {
      warps += change;
      ASSERT_LE(warps, static_cast<int>(that.that.options.resident_warps));
    }
  }
}

TEST_P(InterleaveRules, ItemsOfAQueueBeginInItsOrderOnItsSm) {
  const Example that = example(GetParam());
  std::vector<std::uint32_t> sm_of(that.source.items());
  for (const Issued& issued : that.played.issued) {
    sm_of[issued.item] = issued.sm;
  }
  for (std::uint32_t queue = 0; that.plan.queues() > 1 && queue < that.plan.queues(); ++queue) {
    for (std::uint64_t place = that.plan.queue_begin[queue]; place < that.plan.queue_begin[queue + 1]; ++place) {
      const std::uint32_t item = that.plan.queue[place];
      if (that.source.streams[item].instructions() > 0) {
        ASSERT_EQ(sm_of[item], queue);
      }
    }
  }
}

TEST_P(InterleaveRules, CountsAreThoseOfTheTransactions) {
  const Example that = example(GetParam());
  std::vector<std::uint64_t> seen(5);
  std::uint64_t last = 0;
  for (const Issued& issued : that.played.issued) {
    ++seen[static_cast<std::size_t>(issued.outcome)];
    last = std::max(last, issued.cycle);
  }
  const InterleaveResult& result = that.played.result;
  EXPECT_EQ(result.l1_hits, seen[0]);
  EXPECT_EQ(result.merged, seen[1]);
  EXPECT_EQ(result.l2_hits, seen[2]);
  EXPECT_EQ(result.dram, seen[3]);
  EXPECT_EQ(result.transactions, that.played.issued.size());
  EXPECT_EQ(result.items, that.source.items());
  EXPECT_TRUE(that.played.issued.empty() || result.cycles > last);
  if (that.that.machine.l1_bytes == 0) {
    EXPECT_EQ(result.l1_hits + result.merged, 0U);
  }
  if (that.that.machine.l2_bytes == 0) {
    EXPECT_EQ(result.l2_hits, 0U);
  }
}

TEST_P(InterleaveRules, TheSameAgainWithAnyNumberOfThreads) {
  Example that = example(GetParam());
  for (const std::size_t threads : {std::size_t{1}, std::size_t{3}}) {
    const tbb::global_control some(tbb::global_control::max_allowed_parallelism, threads);
    ParallelSource source(that.source);
    const Played again = play(source, that.plan, that.that.machine, that.that.options);
    ASSERT_EQ(again.issued, that.played.issued);
    ASSERT_EQ(again.result.cycles, that.played.result.cycles);
  }
}

// What is written beside the transactions does not move them.
TEST_P(InterleaveRules, CyclesAndRawInstructionsAreExtras) {
  Example that = example(GetParam());
  that.that.options.cycles = false;
  KeepingSink sink;
  const InterleaveResult plain = interleave(that.source, that.plan, that.that.machine, that.that.options, sink);
  EXPECT_TRUE(sink.all.cycles.empty());
  ASSERT_EQ(sink.all.transactions.size(), that.played.issued.size());
  for (std::size_t i = 0; i < that.played.issued.size(); ++i) {
    ASSERT_EQ(sink.all.transactions[i].line, that.played.issued[i].line);
    ASSERT_EQ(sink.all.transactions[i].sm, that.played.issued[i].sm);
  }
  EXPECT_EQ(plain.cycles, that.played.result.cycles);
}

TEST(Interleave, SeedsOfTheRandomSchedulerDiffer) {
  const InterleaveCase that = test::random_case(7);
  KeptSource source = test::random_source({.items = 60, .most_instructions = 20}, 7);
  const WorkPlan plan = test::random_plan(60, 1, 8);
  Machine machine = that.machine;
  machine.sms = 2;
  InterleaveOptions options{.warp_scheduler = "random:seed=1", .resident_warps = 8};
  machine.l1_line_bytes = 128;
  machine.l1_sector_bytes = 32;
  machine.l1_ways = 0;
  machine.l1_bytes = 1024;
  const Played one = play(source, plan, machine, options);
  EXPECT_EQ(play(source, plan, machine, options).issued, one.issued);
  options.warp_scheduler = "random:seed=2";
  EXPECT_NE(play(source, plan, machine, options).issued, one.issued);
  EXPECT_EQ(one.result.warp_scheduler, "random:seed=1");
}

// Blocks end where they are full: with more than one, the whole is the same.
TEST(Interleave, GoesOnFromBlockToBlock) {
  KeptSource source = test::random_source({.items = 3000, .most_instructions = 60, .most_transactions = 6}, 3);
  Machine machine;
  machine.sms = 4;
  KeepingSink sink;
  const InterleaveResult result =
      interleave(source, test::random_plan(3000, 1, 5), machine, {.resident_warps = 16, .cycles = true}, sink);
  EXPECT_GT(sink.blocks, 3U);
  EXPECT_EQ(sink.all.transactions.size(), result.transactions);
  EXPECT_EQ(sink.all.cycles.size(), result.transactions);
  std::size_t requests = 0;
  for (const memory::Transaction& transaction : sink.all.transactions) {
    requests += transaction.lanes;
  }
  EXPECT_EQ(sink.all.requests.size(), requests);
}

}  // namespace
}  // namespace rayreplay::machine
