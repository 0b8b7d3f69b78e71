// Costs by path in memory time: rows written by hand, and random launches against the definition, row by row and cycle
// by cycle.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bvh/bvh.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "sim/launch/launch_work.hpp"
#include "sim/machine/interleave.hpp"
#include "sim/memory/streams/launch_source.hpp"
#include "tests/interleave/hand_made.hpp"
#include "tests/interleave/same_result.hpp"
#include "tests/interleave/slow_interleave.hpp"
#include "tests/machine/path_traces.hpp"
#include "tests/memory/launch_streams.hpp"
#include "tests/regrouped/slow_path_work.hpp"
#include "tests/support/one_triangle.hpp"

namespace rayreplay::test {

void PrintTo(const SlowPathWork::Row& row, std::ostream* out) {
  *out << row.issue << "+" << row.latency << " " << memory::kWorkStageNames[static_cast<std::size_t>(row.stage)];
}

namespace {

using machine::Costs;
using memory::kIssueScale;
using memory::WarpStream;
using memory::WarpWork;
using memory::WorkStage;

memory::StreamOptions options_with(const Costs& costs, std::uint32_t warp_size) {
  memory::StreamOptions options;
  options.warp_size = warp_size;
  options.pixel_bytes = 0;
  options.work = true;
  options.call_work = experiment::call_work(costs);
  options.lane_costs = experiment::lane_costs(costs);
  return options;
}

bool runs_shaders(const WarpWork& row) {
  return row.issue + row.latency > 0;
}

std::vector<SlowPathWork::Row> shader_rows(const WarpStream& stream) {
  std::vector<SlowPathWork::Row> rows;
  for (const WarpWork& row : stream.work) {
    if (runs_shaders(row)) {
      rows.push_back({row.issue, row.latency, row.stages.shader()});
    }
  }
  return rows;
}

/// The two threads of path_traces.hpp in one warp, and a triangle at x = 1.
class TwoThreads : public testing::Test {
 protected:
  [[nodiscard]] static trace::Trace trace_of(std::array<std::uint32_t, 2> hits, std::array<std::uint32_t, 2> threads) {
    trace::Trace trace = machine::by_path::with_paths();
    trace.scene = one_triangle();
    LaunchBuilder builder({2, 1, 1});
    builder.thread().begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(1).begin(0, 0, 5, 5, 1, 0, 0).miss(2);
    builder.thread().begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(1);
    trace.launches.push_back(builder.build());
    trace::Launch& launch = trace.launches[0];
    launch.data.events.path = {0, hits[0], 0, 0, 0, hits[1]};
    launch.thread_path = {threads[0], threads[1]};
    return trace;
  }
  [[nodiscard]] static WarpStream stream_of(const trace::Trace& trace, const Costs& costs) {
    const bvh::Bvh structure = bvh::build_bvh(trace.scene, 0, "by hand", {.layout = "binary"});
    const auto source = memory::make_launch_source(trace, trace.launches[0], structure, {0, 1}, options_with(costs, 2));
    return all_streams(*source).at(0);
  }
  [[nodiscard]] static std::vector<SlowPathWork::Row> rows_of(const trace::Trace& trace,
                                                              const machine::CostOptions& options) {
    return shader_rows(stream_of(trace, machine::make_costs(trace, trace.launches[0], options)));
  }
  /// Of `issue` instructions, at two cycles each.
  static SlowPathWork::Row row(double issue, WorkStage stage, double latency = -1) {
    return {static_cast<std::uint64_t>(issue * kIssueScale),
            static_cast<std::uint64_t>(latency < 0 ? 2 * issue : latency), stage};
  }
};

/// The example of docs/memory-time.md. Blocks have 6, 5, 2, 1 and 2 issue slots. Thread 0: ray generation executes
/// blocks 0, 1, 3, shared by two trace calls; its hit 0, 1, 3. Thread 1: ray generation 0, 3; its hit 0, 2, 3, 4.
TEST_F(TwoThreads, ByHand) {
  const trace::Trace trace = trace_of({3, 4}, {1, 2});
  const std::vector<SlowPathWork::Row> rows = {
      row(6 + 5 / 2. + 1, WorkStage::RayGeneration),    // the first trace calls of both
      row(6 + 5 + 2 + 1 + 2, WorkStage::ClosestHit),    // both hits: each block once
      row((6 + 5 + 1) / 2., WorkStage::RayGeneration),  // thread 0 alone
      row(20, WorkStage::Miss)};
  EXPECT_EQ(rows_of(trace, {.cycles_per_instruction = 2}), rows);
}

TEST_F(TwoThreads, LanesOfOnePathIssueThatPath) {
  EXPECT_EQ(rows_of(trace_of({4, 4}, {2, 2}), {.cycles_per_instruction = 2})[1], row(11, WorkStage::ClosestHit));
  EXPECT_EQ(rows_of(trace_of({3, 3}, {2, 2}), {.cycles_per_instruction = 2})[1], row(12, WorkStage::ClosestHit));
  // A lane whose call has no path counts as the mean, which is that of the other.
  EXPECT_EQ(rows_of(trace_of({4, 0}, {2, 2}), {.cycles_per_instruction = 2})[1], row(11, WorkStage::ClosestHit));
}

TEST_F(TwoThreads, CostsByHandWin) {
  const trace::Trace trace = trace_of({3, 4}, {1, 2});
  const auto hits = [&](std::vector<machine::HandCost> hand, machine::CostSource source = machine::CostSource::Auto) {
    return rows_of(trace, {.source = source, .hand = std::move(hand), .cycles_per_instruction = 2})[1];
  };
  EXPECT_EQ(hits({{"metal", 100}}), row(100, WorkStage::ClosestHit));
  EXPECT_EQ(hits({{"metal", -1, 500}}), row(16, WorkStage::ClosestHit, 500)) << "a latency leaves the instructions";
  EXPECT_EQ(hits({{"metal", -1, 13}}), row(16, WorkStage::ClosestHit, 16)) << "no latency is below the instructions";
  EXPECT_EQ(hits({{"metal", -1, -1, 3}}), row(48, WorkStage::ClosestHit)) << "a factor of each path's cost";
  EXPECT_EQ(hits({{"metal", -1, 500, 3}}), row(48, WorkStage::ClosestHit, 500));
  EXPECT_EQ(hits({{"metal", -1, -1, 3}, {"1", -1, -1, 2}}), row(32, WorkStage::ClosestHit)) << "one factor counts";
  EXPECT_EQ(hits({{"closest-hit", 100}, {"metal", -1, -1, 2}}), row(32, WorkStage::ClosestHit));
  EXPECT_EQ(hits({}, machine::CostSource::Default), row(250, WorkStage::ClosestHit));
  EXPECT_EQ(hits({}, machine::CostSource::Spirv), row(6 + 5 + 2 + 1 + 2, WorkStage::ClosestHit));
}

/// A warp alone waits for its instructions: the launch takes longer by just the cycles that both hits together take
/// beyond their mean. 16 · 2 instead of 11.5 · 2.
TEST_F(TwoThreads, AWarpAloneTakesTheCyclesOfItsPaths) {
  const trace::Trace trace = trace_of({3, 4}, {2, 2});
  const machine::CostOptions options{.hand = {{"gen", 10}}, .cycles_per_instruction = 2};
  const Costs costs = machine::make_costs(trace, trace.launches[0], options);
  Costs means = costs;
  means.paths = nullptr;
  machine::Machine machine;
  machine.sms = 1;
  const auto cycles = [&](const Costs& with) {
    KeptSource source;
    source.streams = {stream_of(trace, with)};
    KeepingSink sink;
    return machine::interleave(source, plan_of(1), machine, {.resident_warps = 1, .work = true}, sink).cycles;
  };
  EXPECT_EQ(cycles(costs), cycles(means) + 2 * 16 - 23);
}

struct RandomLaunch {
  trace::Trace trace;
  bvh::Bvh structure;
  scheduler::Segments segments;
  std::vector<std::uint32_t> segment_at;
  std::vector<std::uint32_t> thread_at;
  std::uint32_t warp_size = 4;

  [[nodiscard]] std::span<const std::uint32_t> lanes(std::size_t item) const {
    return std::span(segment_at).subspan(item * warp_size, warp_size);
  }
  [[nodiscard]] std::vector<WarpStream> streams(const Costs& costs, bool requests) const {
    memory::StreamOptions options = options_with(costs, warp_size);
    options.coalescing.requests = requests;
    options.coalescing.keep_raw = true;
    const auto source =
        memory::make_segment_source(trace, trace.launches[0], structure,
                                    {.segments = &segments, .segment_at = segment_at, .thread_at = thread_at}, options);
    return all_streams(*source);
  }
};

/// Segments in random places of warps of 4 or 8 lanes.
RandomLaunch random_launch(std::uint64_t seed) {
  Random random(seed);
  RandomLaunch made;
  made.trace = machine::by_path::random_paths(seed, random, false);
  const trace::Launch& launch = made.trace.launches[0];
  made.structure = bvh::build_bvh(made.trace.scene, launch.tlas, "test");
  made.segments = scheduler::cut_paths(launch, {.at = static_cast<scheduler::CutAt>(random.below(3))});
  made.warp_size = random.one_in(2) ? 4 : 8;
  for (std::uint32_t segment = 0; segment < made.segments.size(); ++segment) {
    made.segment_at.push_back(segment);
    if (random.one_in(10)) {
      made.segment_at.push_back(scheduler::kNoSegment);
    }
  }
  for (std::size_t i = made.segment_at.size(); i > 1; --i) {
    std::swap(made.segment_at[i - 1], made.segment_at[random.below(i)]);
  }
  const auto fill = [&](std::vector<std::uint32_t>& places, std::uint32_t empty) {
    places.resize((places.size() + made.warp_size - 1) / made.warp_size * made.warp_size, empty);
  };
  fill(made.segment_at, scheduler::kNoSegment);
  for (std::uint32_t thread = 0; thread < launch.data.threads(); ++thread) {
    made.thread_at.push_back(thread);
  }
  fill(made.thread_at, scheduler::kNoThread);
  return made;
}

/// No latency is near a half, where it could be rounded either way.
constexpr double kCyclesPerInstruction = 2.0371;

/// Some calls by hand, by a factor, or with a latency of their own.
Costs random_costs(const RandomLaunch& launch, std::uint64_t seed) {
  Random random(seed + 1000);
  machine::CostOptions options{.cycles_per_instruction = kCyclesPerInstruction};
  for (std::size_t shader = 0; shader < launch.trace.shaders.size(); ++shader) {
    const std::string name = std::to_string(shader);
    if (random.one_in(6)) {
      options.hand.push_back({name, 1. + random.below(300)});
    } else if (random.one_in(4)) {
      options.hand.push_back({name, -1, random.one_in(2) ? 3e4 : -1, random.below(40) / 10.});
    }
  }
  return machine::make_costs(launch.trace, launch.trace.launches[0], options);
}

TEST(MemoryTimeByPath, IsOfTheDefinitionRowByRow) {
  std::size_t by_path = 0, other = 0, rows = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    const RandomLaunch launch = random_launch(seed);
    const Costs costs = random_costs(launch, seed);
    if (costs.paths == nullptr) {
      continue;
    }
    ++by_path;
    SlowPathWork slow(launch.trace, costs, launch.segments, kCyclesPerInstruction);
    Costs means = costs;
    means.paths = nullptr;
    const std::vector<WarpStream> streams = launch.streams(costs, false);
    const std::vector<WarpStream> of_means = launch.streams(means, false);
    for (std::size_t item = 0; item < streams.size(); ++item) {
      const std::vector<SlowPathWork::Row> fast = shader_rows(streams[item]);
      ASSERT_EQ(fast, slow.rows(launch.lanes(item))) << "item " << item;
      rows += fast.size();
      other += fast != shader_rows(of_means[item]) ? 1U : 0U;
      EXPECT_EQ(streams[item].transactions, of_means[item].transactions);
      EXPECT_EQ(streams[item].calls, of_means[item].calls);
    }
  }
  EXPECT_GT(by_path, 15U);
  EXPECT_GT(rows, 1000U);
  EXPECT_GT(other, 100U) << "means would do";
}

/// The slow twin has the slow work: rows by the definition, run cycle by cycle.
TEST(MemoryTimeByPath, IsWhatTheSlowOneSays) {
  std::size_t compared = 0;
  std::uint64_t other = 0;
  for (std::uint64_t seed = 1; seed <= 9; ++seed) {
    SCOPED_TRACE(seed);
    const RandomLaunch launch = random_launch(seed);
    const Costs costs = random_costs(launch, seed);
    if (costs.paths == nullptr) {
      continue;
    }
    ++compared;
    Random random(seed + 2000);
    machine::Machine machine;
    machine.sms = 1 + random.below(3);
    machine.issue_per_cycle = 1 + random.below(4);
    machine.issue_partitions = 1 + random.below(4);
    const machine::WorkPlan plan = plan_of(static_cast<std::uint32_t>(launch.segment_at.size() / launch.warp_size));
    const machine::InterleaveOptions options{.resident_warps = 1 + random.below(6), .work = true, .cycles = true};

    KeptSource source;
    source.streams = launch.streams(costs, true);
    std::vector<WarpStream> by_definition = source.streams;
    SlowPathWork slow_work(launch.trace, costs, launch.segments, kCyclesPerInstruction);
    for (std::size_t item = 0; item < by_definition.size(); ++item) {
      const std::vector<SlowPathWork::Row> rows = slow_work.rows(launch.lanes(item));
      std::size_t next = 0;
      for (WarpWork& row : by_definition[item].work) {
        if (runs_shaders(row)) {
          ASSERT_LT(next, rows.size());
          row.issue = static_cast<std::uint32_t>(rows[next].issue);
          row.latency = static_cast<std::uint32_t>(rows[next].latency);
          row.stages = {rows[next].stage, row.stages.access()};
          ++next;
        }
      }
      ASSERT_EQ(next, rows.size());
    }
    SlowQueues queues(plan);
    SlowInterleave slow(by_definition, source.options, queues, machine, options);
    slow.run();
    KeepingSink sink;
    const machine::InterleaveResult fast = machine::interleave(source, plan, machine, options, sink);
    EXPECT_EQ(first_difference(sink.all, slow.all), "");
    expect_equal(fast, slow.result);
    expect_whole(fast, slow.lives, machine);

    Costs means = costs;
    means.paths = nullptr;
    source.streams = launch.streams(means, true);
    KeepingSink none;
    other += machine::interleave(source, plan, machine, options, none).cycles != fast.cycles ? 1U : 0U;
  }
  EXPECT_GT(compared, 6U);
  EXPECT_EQ(other, compared) << "means take other times";
}

}  // namespace
}  // namespace rayreplay::test
