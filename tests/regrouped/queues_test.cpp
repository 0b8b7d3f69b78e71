// Queues in memory: the worked example of docs/access-streams.md, and every access against a slow twin.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler-models/launch_order.hpp"
#include "sim/launch/launch_stream.hpp"
#include "sim/launch/launch_work.hpp"
#include "sim/machine/interleave.hpp"
#include "tests/interleave/hand_made.hpp"
#include "tests/interleave/slow_forming.hpp"
#include "tests/memory/launch_streams.hpp"
#include "tests/memory/traced_launches.hpp"
#include "tests/regrouped/slow_queues.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/one_triangle.hpp"

namespace rayreplay::test {
namespace {

using experiment::RegroupedLaunch;
using memory::DataKind;

/// Eight threads in two warps of four lanes, and a triangle. Threads 0, 2, 3 and 5 hit it, the others pass it by.
/// Threads 0 and 3 trace a second ray, which misses.
class QueuesByHand : public testing::Test {
 protected:
  QueuesByHand() {
    trace_.shaders.resize(3);
    trace_.shaders[1].stage = trace::ShaderStage::Miss;
    trace_.shaders[2].stage = trace::ShaderStage::ClosestHit;
    trace_.scene = one_triangle();
    LaunchBuilder builder({8, 1, 1});
    for (const char* path : {"hm", "m", "h", "hm", "m", "h", "m", "m"}) {
      builder.thread();
      for (const char* ray = path; *ray != '\0'; ++ray) {
        if (*ray == 'h') {
          builder.begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(2);
        } else {
          builder.begin(0, 0, 5, 5, 1, 0, 0).miss(1);
        }
      }
    }
    trace_.launches.push_back(builder.build());
    structure_ = bvh::build_bvh(trace_.scene, 0, "by hand", {.layout = "binary"});
    start_.warp_size = 4;
    start_.thread_at = {0, 1, 2, 3, 4, 5, 6, 7};
    start_.start_rank = {0, 1};
    start_.tile = {0, 0};
    schedule_.plan = plan_of(2);
    schedule_.plan.warp_size = 4;
    schedule_.plan.thread_at = {0, 1, 2, 3, 4, 5, 6, 7};
    machine_.sms = 1;
    options_.warp_size = 4;
    options_.coalescing.keep_raw = true;
  }

  [[nodiscard]] RegroupedLaunch regrouped(const std::string& model) const {
    experiment::RegroupOptions options;
    options.machine = machine_;
    options.resident_warps = 2;
    return experiment::regroup_launch(trace_, trace_.launches[0], start_, model, options);
  }
  /// By warp; of the kind `queue` alone.
  [[nodiscard]] std::vector<std::vector<std::string>> queues_of(const std::string& model) const {
    const RegroupedLaunch launch = regrouped(model);
    const auto source = source_of(trace_, trace_.launches[0], structure_, schedule_, &launch, options_);
    std::vector<std::vector<std::string>> result;
    for (const memory::WarpStream& stream : all_streams(*source)) {
      result.emplace_back();
      for (const std::string& row : told(stream.raw, source->allocations(), 4)) {
        if (row.starts_with("queue")) {
          result.back().push_back(row);
        }
      }
    }
    return result;
  }

  trace::Trace trace_;
  bvh::Bvh structure_;
  scheduler::WarpAssignment start_;
  experiment::LaunchSchedule schedule_;
  machine::Machine machine_;
  memory::StreamOptions options_;
};

TEST_F(QueuesByHand, EveryAccessOfAWavefront) {
  // A queue has 4 places of 4 bytes, and lies on a boundary of 256 bytes. Queue 0: misses, 1: hits, of even rounds;
  // 2 and 3: of odd ones.
  EXPECT_EQ(queues_of("wavefront"),
            (std::vector<std::vector<std::string>>{
                // Round 0: threads 0 to 3, threads 4 to 7.
                {"queue 1100 store 4: queue counters+12 queue counters+8",
                 "queue 1111 store 4: queues+768 queues+512 queues+772 queues+776"},
                {"queue 1100 store 4: queue counters+8 queue counters+12",
                 "queue 1111 store 4: queues+516 queues+780 queues+520 queues+524"},
                // Round 1: threads 1, 4, 6, 7 of the queue of misses, and 0, 2, 3, 5 of hits.
                {"queue 1111 load 4: queues+512 queues+516 queues+520 queues+524"},
                {"queue 1111 load 4: queues+768 queues+772 queues+776 queues+780",
                 "queue 1000 store 4: queue counters+0", "queue 1010 store 4: queues+0 queues+4"},
                // Round 2: threads 0 and 3.
                {"queue 1100 load 4: queues+0 queues+4"},
            }));
}

/// Lanes of one queue share lines, and the counters of a warp's queues may.
TEST_F(QueuesByHand, LanesOfOneQueueShareTransactions) {
  const RegroupedLaunch launch = regrouped("wavefront");
  const auto source = source_of(trace_, trace_.launches[0], structure_, schedule_, &launch, options_);
  const std::vector<memory::WarpStream> streams = all_streams(*source);
  const auto lanes_of = [&](std::size_t warp) {
    std::vector<std::uint32_t> lanes;
    for (const memory::Transaction& one : streams[warp].transactions) {
      if (one.kind == DataKind::Queue) {
        lanes.push_back(one.lanes);
      }
    }
    return lanes;
  };
  EXPECT_EQ(lanes_of(0), (std::vector<std::uint32_t>{2, 1, 3})) << "both counters, a miss, three hits";
  EXPECT_EQ(lanes_of(2), std::vector<std::uint32_t>{4});
}

/// Entries come before the state that they lead to, and after the state that must be there when others find them.
TEST_F(QueuesByHand, EntriesComeFirstAndLast) {
  const RegroupedLaunch launch = regrouped("wavefront:state=4,queue_bytes=8");
  const auto source = source_of(trace_, trace_.launches[0], structure_, schedule_, &launch, options_);
  const std::vector<std::string> rows = told(all_streams(*source)[3].raw, source->allocations(), 4);
  ASSERT_GT(rows.size(), 5U);
  EXPECT_EQ(rows[0], "queue 1111 load 8: queues+768 queues+776 queues+784 queues+792");
  EXPECT_EQ(rows[1], "state 1111 load 4: states+0 states+8 states+12 states+20");
  EXPECT_EQ(rows[rows.size() - 3], "state 1010 store 4: states+0 states+12");
  EXPECT_EQ(rows[rows.size() - 2], "queue 1000 store 4: queue counters+0");
  EXPECT_EQ(rows[rows.size() - 1], "queue 1010 store 8: queues+0 queues+8");
}

/// One SM, which has room for two warps: rings of 8 places. Four threads of a record are a warp, when they have come.
TEST_F(QueuesByHand, EveryAccessOfBindlessDispatch) {
  // Records: 0: a miss, 1: a hit, 2: ray generation goes on. Threads 0 and 3 come back to ray generation from their
  // hits; those of no other thread begin a second ray.
  const auto queues = queues_of("bindless-dispatch");
  ASSERT_GE(queues.size(), 4U);
  EXPECT_EQ(queues[0], (std::vector<std::string>{"queue 1100 store 4: queue counters+8 queue counters+4",
                                                 "queue 1111 store 4: queues+512 queues+256 queues+516 queues+520"}));
  EXPECT_EQ(queues[1], (std::vector<std::string>{"queue 1100 store 4: queue counters+4 queue counters+8",
                                                 "queue 1111 store 4: queues+260 queues+524 queues+264 queues+268"}));
}

TEST_F(QueuesByHand, OnChipQueuesMakeNoAccesses) {
  for (const char* model : {"wavefront:queue_bytes=0", "bindless-dispatch:queue_bytes=0", "ser", "compaction", "plain",
                            "ser:arrival=full,scope=sm"}) {
    SCOPED_TRACE(model);
    const RegroupedLaunch launch = regrouped(model);
    EXPECT_EQ(launch.queues, nullptr);
    const auto source = source_of(trace_, trace_.launches[0], structure_, schedule_, &launch, options_);
    for (const memory::Allocation& row : source->allocations().rows()) {
      EXPECT_NE(row.kind, DataKind::Queue);
    }
    for (const auto& warp : queues_of(model)) {
      EXPECT_TRUE(warp.empty());
    }
  }
}

/// Launches of small random scenes, and captured ones, in warps of some sizes on some SMs.
struct QueueCase {
  trace::Trace trace;
  bvh::Bvh structure;
  scheduler::WarpAssignment start;
  experiment::LaunchSchedule schedule;
  machine::Machine machine;
  memory::StreamOptions options;
  std::uint32_t resident = 2;

  QueueCase(trace::Trace of, std::uint32_t warp_size, std::uint32_t sms, std::uint32_t slots)
      : trace(std::move(of)),
        structure(bvh::build_bvh(trace.scene, trace.launches[0].tlas, "test")),
        start(scheduler::LaunchOrders::create("z-order").model->assign(trace.launches[0], warp_size)),
        resident(slots) {
    schedule.plan = machine::WorkDistributions::create("launch").model->plan(trace.launches[0], start, sms);
    machine.sms = sms;
    options.warp_size = warp_size;
    options.coalescing.keep_raw = true;
    options.work = true;
    options.call_work = experiment::call_work(machine::make_costs(trace, trace.launches[0], {}));
  }
  [[nodiscard]] RegroupedLaunch regrouped(const std::string& model, bool closed_loop) const {
    experiment::RegroupOptions regroup;
    regroup.machine = machine;
    regroup.resident_warps = resident;
    regroup.closed_loop = closed_loop;
    return experiment::regroup_launch(trace, trace.launches[0], start, model, regroup);
  }
};

std::vector<std::unique_ptr<QueueCase>> queue_cases() {
  std::vector<std::unique_ptr<QueueCase>> cases;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    cases.push_back(std::make_unique<QueueCase>(traced(seed), seed % 2 == 0 ? 4 : 32,
                                                static_cast<std::uint32_t>(1 + seed % 3),
                                                static_cast<std::uint32_t>(1 + seed)));
  }
  cases.push_back(std::make_unique<QueueCase>(captured("one-weekend-ser"), 32, 4, 4));
  cases.push_back(std::make_unique<QueueCase>(captured("teapot-alpha"), 16, 3, 2));
  return cases;
}

TEST(Queues, OfSchedulesAreWhatTheSlowOnesSay) {
  std::size_t entries = 0;
  for (const auto& that : queue_cases()) {
    const trace::Launch& launch = that->trace.launches[0];
    for (const std::string model : {"wavefront", "wavefront:queue_bytes=8,state=0", "bindless-dispatch",
                                    "bindless-dispatch:queue_bytes=2,queue_threads=40"}) {
      SCOPED_TRACE(model);
      const RegroupedLaunch warps = that->regrouped(model, false);
      const auto source = source_of(that->trace, launch, that->structure, that->schedule, &warps, that->options);
      const std::vector<memory::WarpStream> streams = all_streams(*source);
      const bool bindless = model.starts_with("bindless");
      SlowMemoryQueues slow(launch, warps.segments, bindless);
      const std::uint32_t size = warps.schedule.warp_size;
      const std::uint64_t places = bindless ? that->resident * size : slow.longest();
      ASSERT_EQ(streams.size(), warps.schedule.warps());
      for (std::size_t warp = 0; warp < streams.size(); ++warp) {
        const auto expected = slow.run(std::span(warps.schedule.segment_at).subspan(warp * size, size),
                                       bindless ? warps.sm[warp] - warps.charges.withheld_sms : 0,
                                       source->allocations(), places, warps.queues->entry_bytes());
        ASSERT_TRUE(queue_instructions(streams[warp].raw) == expected) << warp;
        for (const QueueInstruction& one : expected) {
          for (std::size_t i = 1; !bindless && !one.store && i < one.lanes.size(); ++i) {
            EXPECT_EQ(std::get<1>(one.lanes[i]), std::get<1>(one.lanes[i - 1]) + one.bytes) << "side by side";
          }
        }
      }
      entries += slow.entries();
    }
  }
  EXPECT_GT(entries, 5000U);
}

/// Raw instructions by item.
class RawByItem : public memory::InstructionSink {
 public:
  void take(std::uint32_t /*sm*/, std::uint32_t warp, std::uint64_t /*cycle*/, const memory::Instructions& raw,
            std::size_t row) override {
    if (row == 0) {
      of[warp] = queue_instructions(raw);
    }
  }
  std::map<std::uint32_t, std::vector<QueueInstruction>> of;
};

TEST(Queues, OfWarpsThatFormOnTheWayAreWhatTheSlowOnesSay) {
  std::size_t entries = 0;
  for (const auto& that : queue_cases()) {
    const trace::Launch& launch = that->trace.launches[0];
    for (const std::string model : {"bindless-dispatch", "bindless-dispatch:queue_bytes=2,queue_threads=40"}) {
      SCOPED_TRACE(model);
      const RegroupedLaunch warps = that->regrouped(model, true);
      const std::vector<std::uint32_t> delays = experiment::start_delays(warps);
      const experiment::LaunchStream made = experiment::launch_stream(
          that->trace, launch, that->structure, that->schedule, &warps, that->options, that->machine);
      const std::uint32_t size = that->options.warp_size;
      NotingDispatcher noting(dynamic_cast<machine::FormingDispatcher&>(*made.dispatcher), size);
      KeepingSink sink;
      RawByItem raw;
      (void)machine::interleave(*made.source, noting, that->machine,
                                {.resident_warps = that->resident, .work = true, .start_delay = delays, .raw = &raw},
                                sink);
      SlowMemoryQueues slow(launch, warps.segments, true);
      for (std::size_t i = 0; i < noting.started.size(); ++i) {
        const StartedWarp& warp = noting.started[i];
        ASSERT_TRUE(raw.of[noting.items_of[i]] == slow.run(warp.lanes, warp.sm, made.source->allocations(),
                                                           std::uint64_t{that->resident} * size,
                                                           warps.forming->queues.entry_bytes))
            << i;
      }
      entries += slow.entries();
    }
  }
  EXPECT_GT(entries, 2000U);
}

}  // namespace
}  // namespace rayreplay::test
