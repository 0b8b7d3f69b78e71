// Which warp's work goes where: every work distribution on launches of all shapes, and by hand.
#include "sim/machine/work_distribution.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler-models/launch_order.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::machine {
namespace {

using scheduler::kNoThread;
using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

scheduler::WarpAssignment assignment_of(const trace::Launch& launch, std::uint32_t warp_size,
                                        const std::string& order = "linear") {
  return scheduler::LaunchOrders::create(order).model->assign(launch, warp_size);
}

/// By `distribution`, checked against the contract.
WorkPlan plan_by(const std::string& distribution, const trace::Launch& launch, std::uint32_t warp_size,
                 std::uint32_t sms, const std::string& order = "linear") {
  WorkPlan plan =
      WorkDistributions::create(distribution).model->plan(launch, assignment_of(launch, warp_size, order), sms);
  EXPECT_NO_THROW(check(plan, launch.size.threads(), sms)) << distribution;
  EXPECT_EQ(plan.warp_size, warp_size);
  return plan;
}

trace::Launch launch_of(trace::LaunchSize size) {
  trace::Launch launch;
  launch.size = size;
  return launch;
}

/// Every thread in one warp of the captured launch; warps of rows of threads, the last one first.
trace::Launch captured_launch(trace::LaunchSize size, std::uint32_t warp_size) {
  trace::Launch launch = launch_of(size);
  const auto threads = static_cast<std::uint32_t>(size.threads());
  const std::uint32_t warps = (threads + warp_size - 1) / warp_size;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    launch.thread_warp.push_back(warps - 1 - thread / warp_size);
    launch.thread_lane.push_back(static_cast<std::uint8_t>(thread % warp_size));
  }
  return launch;
}

void add_group(trace::Launch& launch, std::uint32_t warp, std::uint16_t sm) {
  launch.groups.warp.push_back(warp);
  launch.groups.sm.push_back(sm);
  launch.groups.lane_mask.push_back(1);
  launch.groups.clock.push_back(launch.groups.size());
}

/// Threads of an item, empty places left out.
std::vector<std::uint32_t> threads_of(const WorkPlan& plan, std::uint32_t item) {
  std::vector<std::uint32_t> threads;
  for (std::uint32_t lane = 0; lane < plan.warp_size; ++lane) {
    const std::uint32_t thread = plan.thread_at[std::size_t{item} * plan.warp_size + lane];
    if (thread != kNoThread) {
      threads.push_back(thread);
    }
  }
  return threads;
}
/// All threads in the order in which the queue has them.
std::vector<std::uint32_t> threads_in_order(const WorkPlan& plan) {
  std::vector<std::uint32_t> threads;
  for (const std::uint32_t item : plan.queue) {
    const std::vector<std::uint32_t> of_item = threads_of(plan, item);
    threads.insert(threads.end(), of_item.begin(), of_item.end());
  }
  return threads;
}
std::vector<std::uint32_t> queue_of(const WorkPlan& plan, std::size_t queue) {
  return {plan.queue.begin() + static_cast<std::ptrdiff_t>(plan.queue_begin[queue]),
          plan.queue.begin() + static_cast<std::ptrdiff_t>(plan.queue_begin[queue + 1])};
}
std::vector<std::uint32_t> numbers(std::uint64_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

const std::vector<trace::LaunchSize> kSizes = {{1, 1, 1},   {7, 5, 1},   {33, 3, 1}, {64, 64, 1}, {100, 1, 1},
                                               {1, 100, 1}, {31, 17, 2}, {5, 4, 3},  {3, 1, 9},   {65, 2, 1}};

// Odd sizes, depth, partial warps, fewer items than SMs: `check` in plan_by has each thread and item once.
TEST(WorkDistribution, EachThreadOnceOnLaunchesOfAllShapes) {
  for (const trace::LaunchSize size : kSizes) {
    for (const std::uint32_t warp_size : {1U, 8U, 32U, 64U}) {
      const trace::Launch launch = captured_launch(size, warp_size);
      for (const std::uint32_t sms : {1U, 3U, 68U}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << "x" << size.depth << ", warps of "
                                        << warp_size << ", " << sms << " SMs");
        for (const char* name : {"launch", "z-order", "scanline", "scanline:wrap=true"}) {
          EXPECT_EQ(plan_by(name, launch, warp_size, sms).queues(), 1U);
        }
        for (const char* name : {"scanline-per-sm", "scanline-per-sm:wrap=true", "scanline-per-sm:part=row",
                                 "scanline-per-sm:part=row,wrap=true"}) {
          EXPECT_EQ(plan_by(name, launch, warp_size, sms).queues(), sms);
        }
        trace::Launch captured = launch;
        add_group(captured, 0, 0);
        EXPECT_EQ(plan_by("captured", captured, warp_size, sms).queues(), sms);
      }
    }
  }
}

TEST(WorkDistribution, LaunchIsTheExperimentsOwnOrder) {
  for (const char* order : {"linear", "z-order", "morton-groups"}) {
    const trace::Launch launch = launch_of({37, 11, 2});
    const scheduler::WarpAssignment assignment = assignment_of(launch, 16, order);
    const WorkPlan plan = plan_by("launch", launch, 16, 5, order);
    ASSERT_EQ(plan.items(), assignment.warps());
    EXPECT_EQ(plan.queue, numbers(plan.items()));
    for (std::size_t warp = 0; warp < assignment.warps(); ++warp) {
      for (std::size_t lane = 0; lane < 16; ++lane) {
        ASSERT_EQ(plan.thread_at[assignment.start_rank[warp] * std::size_t{16} + lane],
                  assignment.thread_at[warp * 16 + lane]);
      }
    }
  }
}

TEST(WorkDistribution, ZOrderIsThatLaunchOrderWhateverTheExperimentHas) {
  const trace::Launch launch = launch_of({70, 45, 1});
  const WorkPlan plan = plan_by("z-order", launch, 32, 4);
  EXPECT_EQ(plan.thread_at, plan_by("launch", launch, 32, 4, "z-order").thread_at);
  EXPECT_NE(plan.thread_at, plan_by("launch", launch, 32, 4).thread_at);
  EXPECT_EQ(plan_by("z-order:warp=4x8,tile=16x16", launch, 32, 4).thread_at,
            plan_by("launch", launch, 32, 4, "z-order:warp=4x8,tile=16x16").thread_at);
}

TEST(WorkDistribution, ScanlineGoesFromLeftToRightAndTopToBottom) {
  for (const trace::LaunchSize size : kSizes) {
    const trace::Launch launch = launch_of(size);
    EXPECT_EQ(threads_in_order(plan_by("scanline", launch, 8, 3)), numbers(size.threads()));
    EXPECT_EQ(threads_in_order(plan_by("scanline:wrap=true", launch, 8, 3)), numbers(size.threads()));
  }
  // 5 × 2 pixels in warps of 4: cut off at the row's end, or going on.
  const WorkPlan cut = plan_by("scanline", launch_of({5, 2, 1}), 4, 1);
  ASSERT_EQ(cut.items(), 4U);
  EXPECT_THAT(threads_of(cut, 1), ElementsAre(4U));
  EXPECT_THAT(threads_of(cut, 2), ElementsAre(5U, 6U, 7U, 8U));
  const WorkPlan wrapped = plan_by("scanline:wrap=true", launch_of({5, 2, 1}), 4, 1);
  ASSERT_EQ(wrapped.items(), 3U);
  EXPECT_THAT(threads_of(wrapped, 1), ElementsAre(4U, 5U, 6U, 7U));
  EXPECT_THAT(threads_of(wrapped, 2), ElementsAre(8U, 9U));
}

TEST(WorkDistribution, ScanlinePerSmCutsTheImageIntoBands) {
  for (const trace::LaunchSize size : kSizes) {
    for (const std::uint32_t sms : {1U, 3U, 68U}) {
      const WorkPlan plan = plan_by("scanline-per-sm", launch_of(size), 8, sms);
      // SM by SM the whole image, from top to bottom, in bands of equal size but for one warp.
      EXPECT_EQ(threads_in_order(plan), numbers(size.threads()));
      std::size_t least = plan.items();
      std::size_t most = 0;
      for (std::uint32_t sm = 0; sm < sms; ++sm) {
        least = std::min(least, queue_of(plan, sm).size());
        most = std::max(most, queue_of(plan, sm).size());
      }
      EXPECT_LE(most - least, 1U);
      const WorkPlan rows = plan_by("scanline-per-sm:part=row", launch_of(size), 8, sms);
      EXPECT_EQ(threads_in_order(rows), numbers(size.threads()));
      for (std::uint32_t sm = 0; sm < sms; ++sm) {
        std::uint64_t threads = 0;
        for (const std::uint32_t item : queue_of(rows, sm)) {
          threads += threads_of(rows, item).size();
        }
        EXPECT_EQ(threads % size.width, 0U) << "whole rows";
      }
    }
  }
  // Five warps on two SMs: three and two. Three warps on five: some have none.
  const WorkPlan plan = plan_by("scanline-per-sm", launch_of({4, 5, 1}), 4, 2);
  EXPECT_THAT(queue_of(plan, 0), ElementsAre(0U, 1U, 2U));
  EXPECT_THAT(queue_of(plan, 1), ElementsAre(3U, 4U));
  const WorkPlan few = plan_by("scanline-per-sm", launch_of({4, 3, 1}), 4, 5);
  EXPECT_THAT(few.queue_begin, ElementsAre(0U, 1U, 2U, 2U, 3U, 3U));
}

// Warps 2, 1, 0 hold threads 0–3, 4–7, 8–11: they start in the order 0, 1, 2.
TEST(WorkDistribution, CapturedTakesEachWarpToItsSm) {
  trace::Launch launch = captured_launch({4, 3, 1}, 4);
  add_group(launch, 2, 1);
  add_group(launch, 1, 0);
  add_group(launch, 0, 1);
  add_group(launch, 1, 2);  // a later group of warp 1 does not count
  add_group(launch, trace::kNone, 0);
  const WorkPlan plan = plan_by("captured", launch, 4, 3);
  EXPECT_EQ(plan.note, "");
  EXPECT_THAT(threads_of(plan, 0), ElementsAre(8U, 9U, 10U, 11U));
  EXPECT_THAT(queue_of(plan, 0), ElementsAre(1U));
  EXPECT_THAT(queue_of(plan, 1), ElementsAre(0U, 2U));
  EXPECT_THAT(queue_of(plan, 2), ElementsAre());
  // The experiment's own order and packing change nothing.
  EXPECT_EQ(plan_by("captured", launch, 4, 3, "morton-groups").thread_at, plan.thread_at);
}

// Ids of captured warps may have gaps and be large.
TEST(WorkDistribution, CapturedWarpsMayHaveAnyNumbers) {
  trace::Launch launch = captured_launch({4, 2, 1}, 4);
  for (std::uint32_t& warp : launch.thread_warp) {
    warp = warp == 0 ? 70'000 : 4'000'000'000U;
  }
  add_group(launch, 70'000, 2);
  add_group(launch, 4'000'000'000U, 1);
  const WorkPlan plan = plan_by("captured", launch, 4, 3);
  EXPECT_EQ(plan.note, "");
  EXPECT_THAT(plan.queue_begin, ElementsAre(0U, 0U, 1U, 2U));
}

TEST(WorkDistribution, CapturedSaysHowManyWarpsHaveNoSm) {
  trace::Launch launch = captured_launch({4, 3, 1}, 4);
  add_group(launch, 1, 2);
  // Threads 0 to 3, of warp 2, have no events: it runs nothing, wherever that is.
  launch.data.event_offset.assign(13, 0);
  EXPECT_EQ(plan_by("captured", launch, 4, 3).note, "");
  for (std::uint32_t thread = 4; thread < 12; ++thread) {
    launch.data.event_offset[thread + 1] = thread - 3;
  }
  const WorkPlan plan = plan_by("captured", launch, 4, 3);
  EXPECT_EQ(plan.note, "the capture does not say on which SM 1 of 2 warps with events ran: dealt out in turn");
  EXPECT_THAT(queue_of(plan, 0), ElementsAre(0U));
  EXPECT_THAT(queue_of(plan, 2), ElementsAre(1U, 2U));  // item 2 by its place, modulo 3
}

TEST(WorkDistribution, CapturedNeedsWarpsGroupsAndAsManySms) {
  const auto message = [](const trace::Launch& launch, std::uint32_t sms, ErrorKind kind) {
    const auto assignment = assignment_of(launch, 4);
    return error_of(kind, [&] { return WorkDistributions::create("captured").model->plan(launch, assignment, sms); });
  };
  const ErrorInfo warps = message(launch_of({4, 3, 1}), 3, ErrorKind::Missing);
  EXPECT_EQ(warps.what, "the trace does not say on which SMs its warps ran");
  EXPECT_EQ(warps.where, "thread_warp");
  trace::Launch launch = captured_launch({4, 3, 1}, 4);
  EXPECT_EQ(message(launch, 3, ErrorKind::Missing).where, "groups");
  EXPECT_THAT(message(launch, 3, ErrorKind::Missing).fix, HasSubstr("capture layer"));
  add_group(launch, 0, 3);
  const ErrorInfo sms = message(launch, 3, ErrorKind::Usage);
  EXPECT_EQ(sms.what, "the trace has warps on more SMs than the machine has");
  EXPECT_EQ(sms.where, "warp 0");
  EXPECT_EQ(sms.found, "SM 3");
  EXPECT_EQ(sms.expected, "less than 3");
}

TEST(WorkDistribution, CapturedOnRandomTraces) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const trace::Trace trace =
        test::random_trace({.seed = seed, .size = {13, 7, 2}, .group = true, .warps = true, .warp_size = 8});
    const WorkPlan plan = plan_by("captured", trace.launches[0], 8, 46);
    EXPECT_EQ(plan.queues(), 46U);
  }
}

TEST(WorkDistribution, ParametersAreChecked) {
  EXPECT_THAT(error_of(ErrorKind::Usage, [] { return WorkDistributions::create("scanline-per-sm:part=column"); }).found,
              HasSubstr("column"));
  EXPECT_THAT(error_of(ErrorKind::Usage, [] { return WorkDistributions::create("scanlin"); }).fix,
              HasSubstr("scanline"));
  EXPECT_EQ(WorkDistributions::create("scanline-per-sm").spec, "scanline-per-sm:wrap=false,part=warp");
}

TEST(WorkDistribution, BrokenPlansAreFound) {
  const WorkPlan good = plan_by("scanline-per-sm", launch_of({4, 3, 1}), 4, 3);
  const auto broken = [&](auto change) {
    WorkPlan plan = good;
    change(plan);
    const ErrorInfo info = error_of(ErrorKind::Internal, [&] {
      check(plan, 12, 3);
      return 0;
    });
    EXPECT_EQ(info.what, "a work plan breaks its contract");
    return info.where + ": " + info.found;
  };
  EXPECT_EQ(broken([](WorkPlan& plan) { plan.warp_size = 65; }), "warp_size: 65");
  EXPECT_EQ(broken([](WorkPlan& plan) { plan.warp_size = 0; }), "warp_size: 0");
  EXPECT_EQ(broken([](WorkPlan& plan) { plan.thread_at.pop_back(); }), "thread_at: 11 places");
  EXPECT_EQ(broken([](WorkPlan& plan) { plan.thread_at[3] = 12; }), "thread_at[3]: thread 12");
  EXPECT_EQ(broken([](WorkPlan& plan) { plan.thread_at[3] = 0; }), "thread_at[3]: thread 0 for the second time");
  EXPECT_EQ(broken([](WorkPlan& plan) { plan.thread_at[3] = kNoThread; }), "thread_at: 11 threads");
  EXPECT_EQ(broken([](WorkPlan& plan) { plan.queue_begin.pop_back(); }), "queue_begin: 2 queues");
  EXPECT_EQ(broken([](WorkPlan& plan) { plan.queue_begin = {0, 3, 2, 3}; }), "queue_begin: ");
  EXPECT_EQ(broken([](WorkPlan& plan) { plan.queue_begin = {0, 1, 2, 4}; }), "queue_begin: ");
  EXPECT_EQ(broken([](WorkPlan& plan) {
              plan.queue.pop_back();
              plan.queue_begin = {0, 1, 2, 2};
            }),
            "queue: 2 items");
  EXPECT_EQ(broken([](WorkPlan& plan) { plan.queue[2] = 1; }), "queue[2]: item 1");
  EXPECT_EQ(broken([](WorkPlan& plan) { plan.queue[2] = 3; }), "queue[2]: item 3");
}

}  // namespace
}  // namespace rayreplay::machine
