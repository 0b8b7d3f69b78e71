// Captured launches under all scheduler models: what a thread accesses does not depend on who runs with whom.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "sim/launch/launch_stream.hpp"
#include "sim/launch/launch_work.hpp"
#include "tests/interleave/random_source.hpp"
#include "tests/memory/launch_streams.hpp"
#include "tests/regrouped/captured_launch.hpp"

namespace rayreplay::test {
namespace {

using experiment::RegroupedLaunch;
using memory::DataKind;
using memory::Instruction;
using memory::Instructions;

using ByThread = std::map<std::uint32_t, std::vector<OneAccess>>;

class Regrouped : public CapturedLaunch {
 protected:
  /// Without states and queues, sorted; `states`: bytes that states load and store.
  [[nodiscard]] ByThread accesses(memory::LaunchSource& source, std::uint64_t& states) const {
    ByThread result;
    for (const memory::WarpStream& stream : all_streams(source)) {
      for (const Instruction& row : stream.raw.rows) {
        const auto lanes = static_cast<std::uint32_t>(std::popcount(row.mask));
        states += row.kind == DataKind::State ? lanes * row.bytes : 0U;
        for (std::uint32_t i = row.first; !is_of_exchanges(row.kind) && i < row.first + lanes; ++i) {
          result[stream.raw.thread[i]].emplace_back(row.kind, row.store, row.bytes, stream.raw.address[i],
                                                    stream.raw.element[i]);
        }
      }
    }
    for (auto& [thread, list] : result) {
      std::ranges::sort(list);
    }
    return result;
  }
};

TEST_P(Regrouped, ThreadsAccessWhatTheyAccessInPlainWarps) {
  const RegroupedLaunch warps = regrouped(false);
  const auto source = source_of(trace_, launch(), structure_, schedule_, &warps, stream_);
  const auto plain = source_of(trace_, launch(), structure_, schedule_, nullptr, stream_);
  std::uint64_t states = 0;
  std::uint64_t none = 0;
  EXPECT_TRUE(accesses(*source, states) == accesses(*plain, none));
  EXPECT_EQ(none, 0U);
  const std::uint64_t moves =
      static_cast<std::uint64_t>(std::count(warps.state_moves.begin(), warps.state_moves.end(), 1));
  EXPECT_EQ(states, 2 * moves * warps.state_bytes) << "what is stored is loaded";
  if (warps.charges.state_traffic == scheduler::StateTraffic::Moved) {
    std::uint64_t moved = 0;
    for (const std::uint32_t of_warp : warps.schedule.moved) {
      moved += of_warp;
    }
    EXPECT_EQ(moves, moved);
  } else if (warps.charges.state_traffic == scheduler::StateTraffic::All) {
    std::uint64_t threads = 0;
    for (std::size_t thread = 0; thread + 1 < warps.segments.first.size(); ++thread) {
      threads += warps.segments.first[thread] < warps.segments.first[thread + 1] ? 1U : 0U;
    }
    EXPECT_EQ(moves, warps.segments.size() - threads);
  }
  EXPECT_EQ(source->tally().rays, plain->tally().rays);
  EXPECT_EQ(source->tally().ignored_rays, plain->tally().ignored_rays);
  EXPECT_EQ(source->tally().unobserved, plain->tally().unobserved);
}

/// A warp waits if an exchange formed it: one of a later round, or of a timed model one with later segments.
TEST_P(Regrouped, FormedWarpsWait) {
  RegroupedLaunch warps = regrouped(false);
  warps.charges.cycles_per_cut = 3;
  warps.charges.cycles_per_warp = 40;
  const std::vector<std::uint32_t> delays = experiment::start_delays(warps);
  ASSERT_EQ(delays.size(), warps.schedule.warps());
  std::vector<std::uint32_t> expected;
  for (std::size_t unit = 0; unit < warps.schedule.units(); ++unit) {
    const std::uint64_t first = warps.schedule.unit_begin[unit];
    const bool exchanges = warps.schedule.round_begin[first + 1] > warps.schedule.round_begin[first] + 1;
    for (std::uint64_t round = first; round < warps.schedule.unit_begin[unit + 1]; ++round) {
      const std::uint32_t delay = round == first ? 0U : exchanges ? 43U : 3U;
      expected.resize(warps.schedule.round_begin[round + 1], delay);
    }
  }
  for (std::size_t warp = 0; warp < delays.size() && !warps.sm.empty(); ++warp) {
    bool later = false;
    for (std::uint32_t lane = 0; lane < warps.schedule.warp_size; ++lane) {
      const std::uint32_t segment = warps.schedule.segment_at[warp * warps.schedule.warp_size + lane];
      const bool first = std::ranges::binary_search(warps.segments.first, segment);
      later |= segment != scheduler::kNoSegment && !first;
    }
    expected[warp] = later ? 43U : 0U;
  }
  EXPECT_EQ(delays, expected);
}

/// Issue order of segments: each once, and a thread's in order.
class SegmentOrder : public memory::InstructionSink {
 public:
  SegmentOrder(const RegroupedLaunch& launch) : launch_(launch), started_(launch.segments.size(), 0) {}
  void take(std::uint32_t /*sm*/, std::uint32_t warp, std::uint64_t cycle, const Instructions& /*raw*/,
            std::size_t row) override {
    for (std::uint32_t lane = 0; row == 0 && lane < launch_.schedule.warp_size; ++lane) {
      const std::uint32_t segment = launch_.schedule.segment_at[std::size_t{warp} * launch_.schedule.warp_size + lane];
      if (segment != scheduler::kNoSegment) {
        EXPECT_EQ(started_[segment], 0U);
        started_[segment] = cycle + 1;
      }
    }
  }
  [[nodiscard]] const std::vector<std::uint64_t>& started() const {
    return started_;
  }

 private:
  const RegroupedLaunch& launch_;
  std::vector<std::uint64_t> started_;  ///< cycle + 1; 0: without accesses
};

TEST_P(Regrouped, SegmentsOfAThreadRunInOrderWhateverTheNumberOfThreads) {
  const RegroupedLaunch warps = regrouped(false);
  const auto run = [&](KeepingSink& sink, memory::InstructionSink* raw) {
    const auto source = source_of(trace_, launch(), structure_, schedule_, &warps, stream_);
    const auto dispatcher = dispatcher_of(schedule_, &warps, machine_);
    return machine::interleave(*source, *dispatcher, machine_, {.resident_warps = 4, .cycles = true, .raw = raw}, sink);
  };
  SegmentOrder order(warps);
  KeepingSink all;
  const machine::InterleaveResult result = run(all, &order);
  EXPECT_EQ(result.items, warps.schedule.warps());
  for (std::size_t thread = 0; thread + 1 < warps.segments.first.size(); ++thread) {
    std::uint64_t before = 0;
    for (std::uint32_t segment = warps.segments.first[thread]; segment < warps.segments.first[thread + 1]; ++segment) {
      const std::uint64_t at = order.started()[segment];
      ASSERT_TRUE(at == 0 || at > before) << segment;
      before = std::max(before, at);
    }
  }
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  KeepingSink again;
  EXPECT_EQ(run(again, nullptr).cycles, result.cycles);
  EXPECT_TRUE(again.all.transactions == all.all.transactions);
  EXPECT_TRUE(again.all.cycles == all.all.cycles);
}

constexpr const char* kModels[] = {"plain",
                                   "ser",
                                   "ser:scope=sm,spill=moved",
                                   "ser:scope=pool,pool_warps=3,spill=moved",
                                   "ser:scope=warp",
                                   "ser:withheld=1,spill=moved",
                                   "ser:arrival=full,scope=sm,pool_warps=4,spill=moved",
                                   "ser:arrival=timeout,timeout=500,pool_warps=8,spill=moved",
                                   "compaction:scope=launch",
                                   "wavefront",
                                   "bindless-dispatch"};

INSTANTIATE_TEST_SUITE_P(Models, Regrouped,
                         testing::Combine(testing::Values("one-weekend-ser", "teapot-alpha"),
                                          testing::ValuesIn(kModels)),
                         name_of_case);

}  // namespace
}  // namespace rayreplay::test
