// Live state of launches: the bytes that `rayreplay shaders` shows for the captured modules, weighed by calls.
#include "sim/machine/live_state.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "capture/trace/reader.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::machine {
namespace {

using trace::EventKind;
using trace::ShaderStage;

trace::Trace captured(const std::string& name) {
  return trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/" + name + ".rrt");
}

LiveState of_first(const trace::Trace& trace) {
  return live_state(trace, trace.launches.at(0));
}

/// Ray generation of the captured mesh viewer: its shadow rays keep 116 bytes and a payload of 4, the rays of its path
/// 24 and a payload of 92.
constexpr double kShadow = 120, kPath = 116;
constexpr double kShadowPayload = 4, kPathPayload = 92;

/// A launch of that shader, with one shadow ray that misses, and three rays of the path that hit.
trace::Trace four_rays() {
  trace::Trace trace;
  trace.shaders = {captured("bunny").shaders.at(0),
                   {ShaderStage::ClosestHit, "main", "hit", {}},
                   {ShaderStage::Miss, "main", "sky", {}}};
  test::LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0).miss(2).begin(0).closest_hit(1).thread().begin(0).closest_hit(1).begin(0).closest_hit(1);
  trace.launches.push_back(builder.build());
  return trace;
}

TEST(LiveState, IsTheMeanOverTheCallsOfTraceCalls) {
  trace::Trace trace = four_rays();
  // The module has the shadow ray's call first.
  trace.launches[0].data.rays.site = {0, 1, 1, 1};
  EXPECT_DOUBLE_EQ(of_first(trace).bytes, (kShadow + 3 * kPath) / 4);
  EXPECT_DOUBLE_EQ(of_first(trace).payload, (kShadowPayload + 3 * kPathPayload) / 4);
  EXPECT_EQ(of_first(trace).origin, Origin::Counted);
  trace.launches[0].data.rays.site = {1, 0, 0, 0};
  EXPECT_DOUBLE_EQ(of_first(trace).bytes, (3 * kShadow + kPath) / 4);
  EXPECT_DOUBLE_EQ(of_first(trace).payload, (3 * kShadowPayload + kPathPayload) / 4);
}

TEST(LiveState, WithoutThePayloadHasTheRest) {
  trace::Trace trace = four_rays();
  trace.launches[0].data.rays.site = {1, 1, 1, 1};
  const LiveState rest = of_first(trace).besides_payload();
  EXPECT_DOUBLE_EQ(rest.bytes, kPath - kPathPayload);
  EXPECT_DOUBLE_EQ(rest.payload, kPathPayload);
  EXPECT_EQ(rest.origin, Origin::Counted);
  EXPECT_EQ(LiveState().besides_payload().bytes, 84) << "assumed: nobody knows the payload's part";
}

TEST(LiveState, PayloadsAreWholeWords) {
  EXPECT_EQ((LiveState{100, 92, Origin::Counted}.payload_in_words(4096)), 92U);
  EXPECT_EQ((LiveState{100, 89.5, Origin::Counted}.payload_in_words(4096)), 92U);
  EXPECT_EQ((LiveState{100, 0.1, Origin::Counted}.payload_in_words(4096)), 4U);
  EXPECT_EQ((LiveState{100, 0, Origin::Counted}.payload_in_words(4096)), 0U);
  EXPECT_EQ((LiveState{1e30, 1e30, Origin::Counted}.payload_in_words(4096)), 4096U);
  EXPECT_EQ(LiveState().payload_in_words(4096), 32U);
}

TEST(LiveState, WithoutNumbersOfCallsIsTheShadersMean) {
  trace::Trace trace = four_rays();
  trace.launches[0].data.rays.site.clear();
  EXPECT_DOUBLE_EQ(of_first(trace).bytes, (kShadow + kPath) / 2);
  EXPECT_DOUBLE_EQ(of_first(trace).payload, (kShadowPayload + kPathPayload) / 2);
  trace.launches[0].data.rays.site = {7, 1, 1, 1};  // no such call
  EXPECT_DOUBLE_EQ(of_first(trace).bytes, ((kShadow + kPath) / 2 + 3 * kPath) / 4);
}

TEST(LiveState, CountsCallsOfTheRayThatTheEventNames) {
  trace::Trace trace = four_rays();
  trace::Launch& launch = trace.launches[0];
  launch.data.rays.site = {0, 1, 1, 1};
  // Both rays of the first thread begin before its shaders run; its miss is of ray 0, its hit of ray 0 too.
  test::LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0).begin(0).miss(2).closest_hit(1).thread().begin(0).closest_hit(1).begin(0).closest_hit(1);
  launch = builder.build();
  launch.data.rays.site = {0, 1, 1, 1};
  launch.data.events.ray = {0, 1, 0, 0, 0, 0, 1, 1};
  EXPECT_DOUBLE_EQ(of_first(trace).bytes, (2 * kShadow + 2 * kPath) / 4);
}

TEST(LiveState, WithoutModulesIsAssumed) {
  trace::Trace trace = four_rays();
  trace.launches[0].data.rays.site = {0, 1, 1, 1};
  trace.shaders[0].spirv.clear();
  EXPECT_EQ(of_first(trace).bytes, 84);
  EXPECT_EQ(of_first(trace).payload, 32);
  EXPECT_EQ(of_first(trace).origin, Origin::Assumed);
  trace.shaders[0].spirv = {1, 2, 3};  // no module
  EXPECT_EQ(of_first(trace).origin, Origin::Assumed);
  trace = four_rays();
  trace.shaders[0].stage = ShaderStage::Miss;  // no entry point of this stage
  EXPECT_EQ(of_first(trace).origin, Origin::Assumed);
}

TEST(LiveState, AnyWordsAreRead) {
  trace::Trace trace = four_rays();
  trace.launches[0].data.rays.site = {0, 1, 1, 1};
  const std::vector<std::uint32_t> good = trace.shaders[0].spirv;
  test::Random random(11);
  std::size_t assumed = 0;
  for (int round = 0; round < 100; ++round) {
    trace.shaders[0].spirv = good;
    for (std::uint32_t changes = 1 + random.below(4); changes > 0; --changes) {
      std::uint32_t& word = trace.shaders[0].spirv[random.below(good.size())];
      word = random.one_in(2) ? static_cast<std::uint32_t>(random.bits()) : word ^ (1U << random.below(32));
    }
    const LiveState state = of_first(trace);
    EXPECT_GE(state.payload, 0);
    EXPECT_GE(state.bytes, state.payload);
    assumed += state.origin == Origin::Assumed ? 1U : 0U;
  }
  EXPECT_GT(assumed, 0U);
  EXPECT_LT(assumed, 100U);
}

/// Bytes that each trace call keeps, by kind of ray: the first hit ends a shadow ray.
double slow_mean(const trace::Launch& launch) {
  double bytes = 0, calls = 0;
  for (std::size_t thread = 0; thread < launch.data.threads(); ++thread) {
    std::size_t begun = launch.data.ray_offset[thread];
    for (auto row = launch.data.event_offset[thread]; row < launch.data.event_offset[thread + 1]; ++row) {
      const EventKind kind = launch.data.events.kind[row];
      begun += trace::begins_ray(kind) ? 1U : 0U;
      if (kind == EventKind::ClosestHit || kind == EventKind::Miss) {
        bytes += (launch.data.rays.flags[begun - 1] & trace::kRayFlagTerminateOnFirstHit) != 0 ? kShadow : kPath;
        ++calls;
      }
    }
  }
  return bytes / calls;
}

TEST(LiveState, FindsTheCallsThatTheInstrumentationNumbered) {
  for (const char* name : {"bunny", "teapot-alpha"}) {
    const trace::Trace trace = captured(name);
    ASSERT_TRUE(trace.launches[0].data.events.ray.empty()) << name;
    ASSERT_FALSE(trace.launches[0].data.rays.site.empty()) << name;
    EXPECT_NEAR(of_first(trace).bytes, slow_mean(trace.launches[0]), 1e-9) << name;
    EXPECT_GT(of_first(trace).bytes, kPath) << name;
    EXPECT_LT(of_first(trace).bytes, kShadow) << name;
  }
  // One trace call: 24 bytes and a payload of 92.
  EXPECT_DOUBLE_EQ(of_first(captured("one-weekend")).bytes, kPath);
  EXPECT_DOUBLE_EQ(of_first(captured("one-weekend")).payload, kPathPayload);
  EXPECT_DOUBLE_EQ(of_first(captured("one-weekend-ser")).bytes, kPath);
}

TEST(LiveState, IsReadByModelsThatChargeForIt) {
  EXPECT_TRUE(depends_on_live_state("ser"));
  EXPECT_TRUE(depends_on_live_state("ser:arrival=timeout,scope=sm,spill=moved"));
  EXPECT_TRUE(depends_on_live_state("compaction"));
  EXPECT_FALSE(depends_on_live_state("ser:live_state=84"));
  EXPECT_FALSE(depends_on_live_state("ser:scope=warp"));
  EXPECT_FALSE(depends_on_live_state("plain"));
  EXPECT_FALSE(depends_on_live_state("wavefront"));
}

TEST(LiveState, IsWhatModelsCharge) {
  const auto ser = scheduler::SchedulerModels::create("ser:spill=moved").model;
  EXPECT_EQ(ser->charges({.sms = 8, .live_state_bytes = 116}).bytes_per_moved, 232);
  EXPECT_EQ(ser->charges({.sms = 8}).bytes_per_moved, 168);
  const auto given = scheduler::SchedulerModels::create("compaction:live_state=10").model;
  EXPECT_EQ(given->charges({.sms = 8, .live_state_bytes = 116}).bytes_per_moved, 20);
}

}  // namespace
}  // namespace rayreplay::machine
