// The closed loop: warps that form while the interleaving runs, against the slow twin; and what must hold in any case.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/interleave/hand_made.hpp"
#include "tests/interleave/random_work.hpp"
#include "tests/interleave/same_result.hpp"
#include "tests/interleave/slow_forming.hpp"
#include "tests/interleave/slow_interleave.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::machine {
namespace {

using test::FormingLaunch;
using test::StartedWarp;
using test::WorkCase;

struct Loop {
  InterleaveResult result;
  memory::TransactionBlock all;
  std::vector<StartedWarp> started;
};

std::unique_ptr<FormingDispatcher> dispatcher_of(const FormingLaunch& launch, const WorkCase& that,
                                                 scheduler::QueuePlaces* queues = nullptr) {
  return dispatch_forming(launch.order, launch.segments, launch.exchanges(), that.base.machine,
                          that.base.options.resident_warps, launch.withheld, queues);
}

Loop run(const FormingLaunch& launch, const WorkCase& that) {
  std::optional<scheduler::QueuePlaces> queues;
  if (launch.queues.keys) {
    queues.emplace(launch.segments, launch.queues, static_cast<std::uint32_t>(launch.exchanges().size()),
                   launch.places);
  }
  const auto dispatcher = dispatcher_of(launch, that, queues ? &*queues : nullptr);
  test::NotingDispatcher noting(*dispatcher, launch.order.warp_size);
  test::FormingSource source(that.source, *dispatcher, launch, queues ? &*queues : nullptr);
  test::KeepingSink sink;
  Loop made;
  made.result = interleave(source, noting, that.base.machine, that.options(), sink);
  made.all = std::move(sink.all);
  made.started = std::move(noting.started);
  return made;
}

/// Every segment once, after the one before it, never on a withheld SM.
void expect_sound(const FormingLaunch& launch, const Loop& run) {
  std::vector<std::uint64_t> start(launch.segments.size(), std::numeric_limits<std::uint64_t>::max());
  for (const StartedWarp& warp : run.started) {
    EXPECT_GE(warp.sm, launch.withheld);
    EXPECT_FALSE(std::ranges::all_of(warp.lanes, [](auto segment) { return segment == scheduler::kNoSegment; }));
    for (std::size_t lane = 0; lane < warp.lanes.size(); ++lane) {
      const std::uint32_t segment = warp.lanes[lane];
      if (segment == scheduler::kNoSegment) {
        EXPECT_EQ(warp.moved >> lane & 1U, 0U) << "no thread, no move";
        continue;
      }
      ASSERT_LT(segment, start.size());
      EXPECT_EQ(start[segment], std::numeric_limits<std::uint64_t>::max()) << "segment " << segment << " runs twice";
      start[segment] = warp.cycle;
    }
  }
  EXPECT_EQ(std::ranges::count(start, std::numeric_limits<std::uint64_t>::max()), 0) << "segments that do not run";
  for (std::uint32_t segment = 0; segment < start.size(); ++segment) {
    if (launch.goes_on(segment)) {
      EXPECT_LE(start[segment], start[segment + 1]);
    }
  }
}

/// The warps, by cycle and SM.
std::vector<StartedWarp> sorted(std::vector<StartedWarp> started) {
  std::ranges::sort(started);
  return started;
}

Loop compare(const FormingLaunch& launch, WorkCase& that) {
  const Loop fast = run(launch, that);
  test::SlowForming forming(launch, that.source, that.base.machine.sms, that.base.options.resident_warps,
                            that.base.machine.l2_latency_cycles);
  test::SlowInterleave slow(forming.streams, that.source.options, forming, that.base.machine, that.options());
  slow.run();
  EXPECT_EQ(test::first_difference(fast.all, slow.all), "");
  EXPECT_TRUE(fast.all.requests == slow.all.requests);
  EXPECT_TRUE(sorted(fast.started) == sorted(forming.started)) << "other warps";
  if (that.base.options.work) {
    test::expect_equal(fast.result, slow.result);
    test::expect_whole(fast.result, slow.lives, that.base.machine);
  } else {
    test::expect_same(fast.result, slow.result);
  }
  expect_sound(launch, fast);
  return fast;
}

/// A stock of streams with work, a machine, and delays of formed warps.
WorkCase random_stock(std::uint64_t seed, test::Draws& draw) {
  WorkCase that = test::random_work_case(seed);
  if (that.source.streams.empty()) {
    that.source.streams.emplace_back().work.resize(1);
  }
  that.base.options.resident_warps = std::min(that.base.options.resident_warps, 1 + draw.upto(5));
  that.delays.clear();
  return that;
}

void draw_delays(const FormingLaunch& launch, WorkCase& that, test::Draws& draw) {
  const auto dispatcher = dispatcher_of(launch, that);
  if (that.base.options.work && draw.upto(1) == 0 && dispatcher->items() > 0) {
    that.delays.assign(std::min(dispatcher->known_items() + 1, dispatcher->items()), 0);
    if (dispatcher->items() > dispatcher->known_items()) {
      that.delays.back() = draw.upto(100);
    }
  }
}

TEST(Forming, IsWhatTheSlowOneSays) {
  std::array<std::uint64_t, 2> formed{};  // with an exchange for each SM, with a single one
  std::uint64_t moved = 0;
  std::uint64_t queued = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    test::Draws draw(seed + 9000);
    WorkCase that = random_stock(seed + 20'000, draw);
    const FormingLaunch launch = test::random_forming(that.base.machine.sms, draw);
    draw_delays(launch, that, draw);
    const Loop fast = compare(launch, that);
    ASSERT_FALSE(::testing::Test::HasFailure());
    formed[launch.exchanges().size() == 1 ? 1 : 0] += fast.started.size() - launch.order.warps();
    queued += static_cast<std::uint64_t>(
        std::ranges::count(fast.all.transactions, memory::DataKind::Queue, &memory::Transaction::kind));
    for (const StartedWarp& warp : fast.started) {
      moved += static_cast<std::uint64_t>(std::popcount(warp.moved));
    }
  }
  EXPECT_GT(formed[0], 1000U);
  EXPECT_GT(formed[1], 1000U);
  EXPECT_GT(moved, 2000U);
  EXPECT_GT(queued, 10000U);
}

TEST(Forming, WithoutWorkIsWhatTheSlowOneSays) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    test::Draws draw(seed + 19'000);
    WorkCase that = random_stock(seed + 30'000, draw);
    that.base.options.work = false;
    const FormingLaunch launch = test::random_forming(that.base.machine.sms, draw);
    compare(launch, that);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

// Each end of each range.
TEST(Forming, IsWhatTheSlowOneSaysAtTheEnds) {
  struct End {
    const char* name;
    void (*set)(WorkCase&);
  };
  const std::vector<End> ends = {
      {"one slot", [](auto& at) { at.base.options.resident_warps = 1; }},
      {"one SM", [](auto& at) { at.base.machine.sms = 1; }},
      {"many slots", [](auto& at) { at.base.options.resident_warps = 100; }},
      {"a signal of a cycle", [](auto& at) { at.base.machine.l2_latency_cycles = 1; }},
      {"a signal slower than memory",
       [](auto& at) {
         at.base.machine.l2_latency_cycles = 90;
         at.base.machine.dram_latency_cycles = 30;
       }},
      {"a signal that takes long",
       [](auto& at) { at.base.machine.l2_latency_cycles = at.base.machine.dram_latency_cycles = 1000; }},
      {"no L2", [](auto& at) { at.base.machine.l2_bytes = 0; }},
      {"warps that take no time",
       [](auto& at) {
         for (memory::WarpStream& stream : at.source.streams) {
           stream = {};
           stream.work.resize(1);
         }
       }},
  };
  for (const End& end : ends) {
    for (std::uint64_t seed = 600; seed < 620; ++seed) {
      SCOPED_TRACE(testing::Message() << end.name << ", " << seed);
      test::Draws draw(seed);
      WorkCase that = random_stock(seed, draw);
      end.set(that);
      const FormingLaunch launch = test::random_forming(that.base.machine.sms, draw);
      draw_delays(launch, that, draw);
      compare(launch, that);
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
  }
}

}  // namespace
}  // namespace rayreplay::machine
