// Four threads in two warps, regrouped by SER: every access of every warp.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bvh/bvh.hpp"
#include "sim/launch/launch_stream.hpp"
#include "sim/launch/launch_work.hpp"
#include "tests/interleave/hand_made.hpp"
#include "tests/memory/launch_streams.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/one_triangle.hpp"

namespace rayreplay::test {
namespace {

/// A triangle at x = 1: threads 0 and 2 hit it, 1 and 3 pass it by. Warps of two lanes.
class RegroupedByHand : public testing::Test {
 protected:
  using RegroupedLaunch = experiment::RegroupedLaunch;

  RegroupedByHand() {
    trace_.shaders.resize(3);
    trace_.shaders[1].stage = trace::ShaderStage::Miss;
    trace_.shaders[2].stage = trace::ShaderStage::ClosestHit;
    trace_.scene = one_triangle();
    trace_.scene.instances[0].hit_group_offset = 2;
    LaunchBuilder builder({4, 1, 1});
    for (int pair = 0; pair < 2; ++pair) {
      builder.thread().begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(2);
      builder.thread().begin(0, 0, 5, 5, 1, 0, 0).miss(1);
    }
    trace_.launches.push_back(builder.build());
    structure_ = bvh::build_bvh(trace_.scene, 0, "by hand", {.layout = "binary"});
    start_.warp_size = 2;
    start_.thread_at = {0, 1, 2, 3};
    start_.start_rank = {0, 1};
    start_.tile = {0, 0};
    schedule_.plan = plan_of(2);
    schedule_.plan.warp_size = 2;
    schedule_.plan.thread_at = {0, 1, 2, 3};
    machine_.sms = 1;
    options_.warp_size = 2;
    options_.payload_bytes = 4;
    options_.coalescing.keep_raw = true;
  }

  RegroupedLaunch regrouped(const std::string& model) {
    experiment::RegroupOptions options;
    options.machine = machine_;
    options.resident_warps = 2;
    return experiment::regroup_launch(trace_, trace_.launches[0], start_, model, options);
  }

  trace::Trace trace_;
  bvh::Bvh structure_;
  scheduler::WarpAssignment start_;
  experiment::LaunchSchedule schedule_;
  machine::Machine machine_;
  memory::StreamOptions options_;
};

TEST_F(RegroupedByHand, EveryAccessOfSer) {
  const RegroupedLaunch ser = regrouped("ser:spill=moved,live_state=8");
  // Misses come first. Thread 1 keeps lane 1 and its warp goes on; thread 3 has moved. Of the hits thread 0 has moved.
  EXPECT_EQ(ser.schedule.warps(), 4U);
  EXPECT_EQ(ser.state_bytes, 8U);
  const auto source = source_of(trace_, trace_.launches[0], structure_, schedule_, &ser, options_);
  const std::vector<memory::WarpStream> streams = all_streams(*source);
  const std::string node = " load " + std::to_string(structure_.traits.node_bytes) + ":";
  const auto of = [&](std::size_t warp) { return told(streams.at(warp).raw, source->allocations(), 2); };
  EXPECT_EQ(of(0), (std::vector<std::string>{
                       "shader-record 11 load 64: ray-generation records+0 ray-generation records+0",
                       "payload 11 store 4: payloads+0 payloads+4",
                       "node 11" + node + " top nodes+0 top nodes+0",
                       "instance 10 load 64: instances+0",
                       "node 10" + node + " blas 0 nodes+0",
                       "index 10 load 12: geometry 0 indices+0",
                       "vertex 10 load 12: geometry 0 vertices+0",
                       "vertex 10 load 12: geometry 0 vertices+12",
                       "vertex 10 load 12: geometry 0 vertices+24",
                       "state 10 store 4: states+0",
                       "state 10 store 4: states+8",
                   }));
  EXPECT_EQ(of(1), (std::vector<std::string>{
                       "shader-record 11 load 64: ray-generation records+0 ray-generation records+0",
                       "payload 11 store 4: payloads+8 payloads+12",
                       "node 11" + node + " top nodes+0 top nodes+0",
                       "instance 10 load 64: instances+0",
                       "node 10" + node + " blas 0 nodes+0",
                       "index 10 load 12: geometry 0 indices+0",
                       "vertex 10 load 12: geometry 0 vertices+0",
                       "vertex 10 load 12: geometry 0 vertices+12",
                       "vertex 10 load 12: geometry 0 vertices+24",
                       "state 01 store 4: states+20",
                       "state 01 store 4: states+28",
                   }));
  // Threads 3 and 1.
  EXPECT_EQ(of(2), (std::vector<std::string>{
                       "state 10 load 4: states+20",
                       "state 10 load 4: states+28",
                       "shader-record 11 load 64: miss records+0 miss records+0",
                       "payload 11 load 4: payloads+12 payloads+4",
                       "payload 11 store 4: payloads+12 payloads+4",
                       "frame-buffer 11 store 16: frame buffer+48 frame buffer+16",
                   }));
  // Threads 0 and 2.
  EXPECT_EQ(of(3), (std::vector<std::string>{
                       "state 10 load 4: states+0",
                       "state 10 load 4: states+8",
                       "shader-record 11 load 64: hit records+128 hit records+128",
                       "payload 11 load 4: payloads+0 payloads+8",
                       "payload 11 store 4: payloads+0 payloads+8",
                       "frame-buffer 11 store 16: frame buffer+0 frame buffer+32",
                   }));
}

/// By default every thread that reorders stores and loads its state.
TEST_F(RegroupedByHand, AllStatesGoThroughMemory) {
  const RegroupedLaunch ser = regrouped("ser:live_state=4");
  const auto source = source_of(trace_, trace_.launches[0], structure_, schedule_, &ser, options_);
  const std::vector<memory::WarpStream> streams = all_streams(*source);
  EXPECT_EQ(told(streams[1].raw, source->allocations(), 2).back(), "state 11 store 4: states+8 states+12");
  EXPECT_EQ(told(streams[2].raw, source->allocations(), 2).front(), "state 11 load 4: states+12 states+4");
}

TEST_F(RegroupedByHand, PlainIsAsWholeThreads) {
  const RegroupedLaunch plain = regrouped("plain");
  const auto source = source_of(trace_, trace_.launches[0], structure_, schedule_, &plain, options_);
  const auto whole = source_of(trace_, trace_.launches[0], structure_, schedule_, nullptr, options_);
  EXPECT_EQ(all_streams(*source), all_streams(*whole));
  EXPECT_EQ(plain.state_bytes, 0U);
}

/// The second round starts when the first has ended, a signal later. Latencies: L1 3, L2 7, memory 20.
TEST_F(RegroupedByHand, RoundsFollowEachOther) {
  const RegroupedLaunch ser = regrouped("ser:spill=moved,live_state=8");
  machine_.l1_bytes = 512;
  machine_.l1_ways = 0;
  machine_.l2_bytes = 4096;
  machine_.l2_ways = 0;
  machine_.l1_latency_cycles = 3;
  machine_.l2_latency_cycles = 7;
  machine_.dram_latency_cycles = 20;
  const auto source = source_of(trace_, trace_.launches[0], structure_, schedule_, &ser, options_);
  const auto dispatcher = dispatcher_of(schedule_, &ser, machine_);
  const Played played = play(*source, *dispatcher, machine_, {.resident_warps = 2});
  EXPECT_EQ(played.result.items, 4U);
  ASSERT_EQ(played.result.instructions, 2 * 11U + 2 * 6U);
  std::vector<Issued> second;
  std::uint64_t end = 0;
  for (const Issued& one : played.issued) {
    if (one.item < 2) {
      EXPECT_TRUE(second.empty());
      end = one.cycle + 1;  // the last of a warp's instructions is a store, which completes in the next cycle
    } else {
      second.push_back(one);
    }
  }
  const auto line = [&](const char* name) { return named(source->allocations(), name).start / 128; };
  const std::uint64_t states = line("states");
  const std::uint64_t misses = line("miss records");
  const std::uint64_t hits = line("hit records") + 1;
  const std::uint64_t payloads = line("payloads");
  const std::uint64_t pixels = line("frame buffer");
  // Both states lie in one sector. Stores left it in the L2, the L1 does not have it: warp 2 brings it, warp 3 waits
  // for it from cycle 8 on. Both go on at cycle 14, in turn, and hit. The records come from memory; the payloads were
  // stored and never loaded: from the L2.
  const std::uint64_t t = end + 7;
  EXPECT_EQ(second, (std::vector<Issued>{{t, 0, 2, 0, states, Outcome::L2},
                                         {t + 1, 0, 3, 0, states, Outcome::Merged},
                                         {t + 7, 0, 2, 1, states, Outcome::Hit},
                                         {t + 8, 0, 3, 1, states, Outcome::Hit},
                                         {t + 10, 0, 2, 2, misses, Outcome::Dram},
                                         {t + 11, 0, 3, 2, hits, Outcome::Dram},
                                         {t + 30, 0, 2, 3, payloads, Outcome::L2},
                                         {t + 31, 0, 3, 3, payloads, Outcome::Merged},
                                         {t + 37, 0, 2, 4, payloads, Outcome::Store},
                                         {t + 38, 0, 3, 4, payloads, Outcome::Store},
                                         {t + 39, 0, 2, 5, pixels, Outcome::Store},
                                         {t + 40, 0, 3, 5, pixels, Outcome::Store}}));
}

/// Warps of a first round start at once. Those of the second wait for the split, and for the exchange if their unit has
/// several warps.
TEST_F(RegroupedByHand, FormedWarpsWait) {
  using Delays = std::vector<std::uint32_t>;
  EXPECT_EQ(start_delays(regrouped("ser:reorder_cycles=40,split_cycles=3")), (Delays{0, 0, 43, 43}));
  EXPECT_EQ(start_delays(regrouped("ser:scope=warp,reorder_cycles=40,split_cycles=3")), (Delays{0, 3, 0, 3}));
  EXPECT_EQ(start_delays(regrouped("ser:reorder_cycles=0,split_cycles=0")), Delays{});
}

TEST_F(RegroupedByHand, CostsOfCallsInUnitsOfStreams) {
  machine::Costs costs;
  costs.calls.resize(trace_.shaders.size() * trace::kEventKinds);
  const auto call = [](std::size_t shader, trace::EventKind kind) {
    return shader * trace::kEventKinds + static_cast<std::size_t>(kind);
  };
  costs.calls[call(0, trace::EventKind::Begin)] = {
      .issue = 12.25, .latency = 70.4, .origin = "hand", .latency_origin = "hand"};
  costs.calls[call(2, trace::EventKind::ClosestHit)] = {
      .issue = 1.0 / 3, .latency = 1.5, .origin = "hand", .latency_origin = "hand"};
  costs.calls[call(2, trace::EventKind::Reorder)] = {
      .issue = 5, .latency = 5, .origin = "hand", .latency_origin = "hand"};
  const std::vector<memory::CallWork> work = experiment::call_work(costs);
  ASSERT_EQ(work.size(), costs.calls.size());
  EXPECT_EQ(work[call(0, trace::EventKind::Begin)].issue, 12 * 256 + 64U);
  EXPECT_EQ(work[call(0, trace::EventKind::Begin)].latency, 70U);
  EXPECT_EQ(work[call(2, trace::EventKind::ClosestHit)].issue, 85U);
  EXPECT_EQ(work[call(2, trace::EventKind::ClosestHit)].latency, 2U);
  EXPECT_EQ(work[call(2, trace::EventKind::Reorder)].issue, 0U) << "no warp event";
}

TEST_F(RegroupedByHand, ABoundHasNoWarps) {
  const ErrorInfo info = error_of(ErrorKind::Usage, [&] { return regrouped("oracle"); });
  EXPECT_NE(info.what.find("is a bound"), std::string::npos);
}

}  // namespace
}  // namespace rayreplay::test
