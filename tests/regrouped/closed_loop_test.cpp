// Captured launches under timed models in memory time: warps form on the way, and nothing is lost or doubled.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "sim/launch/launch_stream.hpp"
#include "sim/launch/launch_work.hpp"
#include "sim/machine/interleave.hpp"
#include "tests/interleave/slow_forming.hpp"
#include "tests/memory/launch_streams.hpp"
#include "tests/regrouped/captured_launch.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::test {
namespace {

using experiment::RegroupedLaunch;
using memory::DataKind;
using memory::Instruction;
using memory::Instructions;
using scheduler::StateTraffic;

/// Accesses by thread, without those of states and queues, in the order of issue; and the states' instructions by warp.
class Accesses : public memory::InstructionSink {
 public:
  void take(std::uint32_t /*sm*/, std::uint32_t warp, std::uint64_t /*cycle*/, const Instructions& raw,
            std::size_t row) override {
    add(raw, row);
    if (raw.rows[row].kind == DataKind::State) {
      states[warp].push_back(raw.rows[row]);
    }
  }
  void add(const Instructions& raw, std::size_t row) {
    const Instruction& one = raw.rows[row];
    const auto lanes = static_cast<std::uint32_t>(std::popcount(one.mask));
    for (std::uint32_t i = one.first; !is_of_exchanges(one.kind) && i < one.first + lanes; ++i) {
      by_thread[raw.thread[i]].emplace_back(one.kind, one.store, one.bytes, raw.address[i], raw.element[i]);
    }
  }
  void sort() {
    for (auto& [thread, list] : by_thread) {
      std::ranges::sort(list);
    }
  }

  std::map<std::uint32_t, std::vector<OneAccess>> by_thread;
  std::map<std::uint32_t, std::vector<Instruction>> states;
};

class ClosedLoop : public CapturedLaunch {
 protected:
  ClosedLoop() : warps_(regrouped(true)), delays_(experiment::start_delays(warps_)) {
    stream_.work = true;
    stream_.call_work = experiment::call_work(machine::make_costs(trace_, launch(), {}));
  }
  struct Loop {
    machine::InterleaveResult result;
    std::vector<StartedWarp> started;
    std::vector<std::uint32_t> items;
    memory::TransactionBlock all;
    memory::SourceTally tally;
  };
  [[nodiscard]] Loop run(memory::InstructionSink* raw) const {
    const experiment::LaunchStream made =
        experiment::launch_stream(trace_, launch(), structure_, schedule_, &warps_, stream_, machine_);
    NotingDispatcher noting(dynamic_cast<machine::FormingDispatcher&>(*made.dispatcher), 32);
    KeepingSink sink;
    Loop loop;
    loop.result = machine::interleave(
        *made.source, noting, machine_,
        {.resident_warps = 4, .work = true, .start_delay = delays_, .cycles = true, .raw = raw}, sink);
    loop.started = std::move(noting.started);
    loop.items = std::move(noting.items_of);
    loop.all = std::move(sink.all);
    loop.tally = made.source->tally();
    return loop;
  }

  RegroupedLaunch warps_;
  std::vector<std::uint32_t> delays_;
};

TEST_P(ClosedLoop, ThreadsAccessWhatTheyAccessInPlainWarps) {
  Accesses found;
  const Loop loop = run(&found);
  found.sort();
  Accesses expected;
  const auto plain = source_of(trace_, launch(), structure_, schedule_, nullptr, stream_);
  for (const memory::WarpStream& stream : all_streams(*plain)) {
    for (std::size_t row = 0; row < stream.raw.rows.size(); ++row) {
      expected.add(stream.raw, row);
    }
  }
  expected.sort();
  EXPECT_TRUE(found.by_thread == expected.by_thread);
  EXPECT_EQ(loop.tally.rays, plain->tally().rays);
  EXPECT_EQ(loop.tally.ignored_rays, plain->tally().ignored_rays);
  EXPECT_EQ(loop.tally.unobserved, plain->tally().unobserved);
}

TEST_P(ClosedLoop, EverySegmentRunsOnceAndAfterTheOneBefore) {
  const Loop loop = run(nullptr);
  constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> start(warps_.segments.size(), kNever);
  std::uint64_t formed = 0;
  for (std::size_t i = 0; i < loop.started.size(); ++i) {
    const StartedWarp& warp = loop.started[i];
    EXPECT_GE(warp.sm, warps_.charges.withheld_sms);
    formed += loop.items[i] + 1 >= delays_.size() ? 1U : 0U;
    for (const std::uint32_t segment : warp.lanes) {
      if (segment != scheduler::kNoSegment) {
        EXPECT_EQ(start.at(segment), kNever) << segment;
        start[segment] = warp.cycle;
      }
    }
  }
  EXPECT_EQ(std::ranges::count(start, kNever), 0);
  for (std::size_t thread = 0; thread + 1 < warps_.segments.first.size(); ++thread) {
    for (std::uint32_t s = warps_.segments.first[thread]; s + 1 < warps_.segments.first[thread + 1]; ++s) {
      EXPECT_LT(start[s], start[s + 1]) << s;
    }
  }
  EXPECT_GT(formed, 10U);
  EXPECT_EQ(loop.result.items, loop.started.size());
  std::uint64_t reorder = 0;
  for (const machine::SmTime& sm : loop.result.time.sms) {
    reorder += sm.waits[static_cast<std::size_t>(machine::WarpWait::Reorder)];
    EXPECT_EQ(sm.busy + sm.barrier + sm.idle, loop.result.cycles);
  }
  EXPECT_EQ(reorder, formed * delays_.back()) << "every formed warp waits for its exchange, no launched one does";
  EXPECT_GT(delays_.back(), 0U);
}

/// All: stored at the end of each segment but the last, loaded before each but the first. Moved: the new warp stores
/// the states of the threads that moved, then loads them.
TEST_P(ClosedLoop, StatesGoThroughMemoryOnce) {
  Accesses found;
  const Loop loop = run(&found);
  const auto words = warps_.state_bytes / 4;
  ASSERT_GT(words, 0U);
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < loop.started.size(); ++i) {
    const StartedWarp& warp = loop.started[i];
    std::uint64_t loads = 0, stores = 0;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::uint32_t segment = warp.lanes[lane];
      if (segment == scheduler::kNoSegment) {
        continue;
      }
      const bool first = std::ranges::binary_search(warps_.segments.first, segment);
      const bool last = std::ranges::binary_search(warps_.segments.first, segment + 1);
      const bool all = warps_.charges.state_traffic == StateTraffic::All;
      loads |= std::uint64_t{all ? !first : (warp.moved >> lane & 1U) != 0} << lane;
      stores |= std::uint64_t{all ? !last : (warp.moved >> lane & 1U) != 0} << lane;
    }
    moved += static_cast<std::uint64_t>(std::popcount(warp.moved));
    std::vector<std::pair<bool, std::uint64_t>> expected;  // store, lanes
    const auto add = [&](bool store, std::uint64_t lanes) {
      expected.insert(expected.end(), lanes == 0 ? 0 : words, {store, lanes});
    };
    const bool stores_first = warps_.charges.state_traffic == StateTraffic::Moved;
    add(stores_first, stores_first ? stores : loads);
    add(!stores_first, stores_first ? loads : stores);
    std::vector<std::pair<bool, std::uint64_t>> said;
    for (const Instruction& one : found.states[loop.items[i]]) {
      said.emplace_back(one.store, one.mask);
    }
    ASSERT_EQ(said, expected) << "warp " << loop.items[i];
  }
  EXPECT_GT(moved, 0U);
}

TEST_P(ClosedLoop, HasNoItemsBeforeItRuns) {
  const auto told = [](const auto& make) { return message_of(ErrorKind::Internal, [&] { (void)make(); }); };
  EXPECT_NE(told([&] { return dispatcher_of(schedule_, &warps_, machine_); }).find("form while they run"),
            std::string::npos);
  EXPECT_NE(told([&] {
              return source_of(trace_, launch(), structure_, schedule_, &warps_, stream_);
            }).find("form while they run"),
            std::string::npos);
}

TEST_P(ClosedLoop, IsTheSameForAnyNumberOfThreads) {
  const Loop loop = run(nullptr);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const Loop again = run(nullptr);
  EXPECT_EQ(again.result.cycles, loop.result.cycles);
  EXPECT_TRUE(again.started == loop.started);
  EXPECT_TRUE(again.all.transactions == loop.all.transactions);
  EXPECT_TRUE(again.all.cycles == loop.all.cycles);
}

constexpr const char* kTimedModels[] = {"ser:arrival=full,scope=sm,pool_warps=4,spill=moved,reorder_cycles=40",
                                        "ser:arrival=timeout,timeout=500,pool_warps=8,spill=moved,split_cycles=7",
                                        "ser:arrival=timeout,timeout=90,scope=sm,withheld=1,reorder_cycles=40",
                                        "ser:arrival=full,withheld=2,reorder_cycles=40",
                                        "bindless-dispatch:queue_threads=64",
                                        "bindless-dispatch"};

INSTANTIATE_TEST_SUITE_P(Models, ClosedLoop,
                         testing::Combine(testing::Values("one-weekend-ser", "teapot-alpha"),
                                          testing::ValuesIn(kTimedModels)),
                         name_of_case);

}  // namespace
}  // namespace rayreplay::test
