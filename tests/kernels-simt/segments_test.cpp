// Replays of segments on a device against the processor's, with weights and with the detail: equal in every sum.
#include <gtest/gtest.h>

#include "capture/trace/reader.hpp"
#include "tests/kernels-simt/support.hpp"
#include "tests/regrouping/random_schedules.hpp"

namespace rayreplay {
namespace {

using simt::Policy;

void compare(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
             const scheduler::Segments& segments, const trace::Column<std::uint32_t>& segment_at,
             std::uint32_t warp_size, simt::SegmentReplayOptions options, const simt::OnDeviceLimits& limits = {}) {
  SCOPED_TRACE(to_string(options.policy));
  Accelerator nobody;
  trace::AcceleratedLaunch resident(nobody, launch);
  const auto expected = simt::replay_segments(launch, shaders, segments, segment_at, warp_size, options);
  options.on_device = &resident;
  test::expect_equal(
      simt::replay_segments_on(test::one_device(), launch, shaders, segments, segment_at, warp_size, options, limits),
      expected);
}

TEST(Segments, GiveTheProcessorsSums) {
  std::mt19937_64 random(4);
  for (const auto& [shader_count, warp_size] :
       {std::pair<std::size_t, std::uint32_t>{6, 5}, {60, 32}, {3000, 8}, {6, 48}}) {
    const auto shaders = test::shaders_of_all_stages(shader_count);
    const trace::Launch launch = test::RandomLaunch(shader_count, random()).make(300, shader_count > 1000 ? 25 : 5);
    const auto segments = scheduler::cut_paths(launch, {.at = scheduler::CutAt::PendingCall});
    const auto places = test::shuffled_assignment(segments.size(), warp_size, random);
    simt::SegmentReplayOptions options;
    options.policy = warp_size == 5 ? Policy::OldestLane : Policy::StageMajority;
    options.detail = true;
    options.weights = test::random_weights(warp_size == 5 ? 3 : simt::kMaxWeights, shader_count, random);
    options.shader_cost = test::some_costs(shader_count);
    compare(launch, shaders, segments, places.thread_at, warp_size, options);
    if (warp_size == 32) {
      compare(launch, shaders, segments, places.thread_at, warp_size, options, {.most_places = 100});
      options.weights = {};
      compare(launch, shaders, segments, places.thread_at, warp_size, options);
    }
  }
}

TEST(Segments, CutEverywhereOrNowhere) {
  std::mt19937_64 random(5);
  const auto shaders = test::shaders_of_all_stages(6);
  const trace::Launch launch = test::RandomLaunch(6, random()).make(300, 5);
  for (const scheduler::CutAt at : {scheduler::CutAt::Nothing, scheduler::CutAt::EveryCall}) {
    const auto segments = scheduler::cut_paths(launch, {.at = at});
    const auto places = test::shuffled_assignment(segments.size(), 32, random);
    simt::SegmentReplayOptions options;
    options.weights = test::random_weights(1, shaders.size(), random);
    for (const Policy policy : test::kPolicies) {
      options.policy = policy;
      compare(launch, shaders, segments, places.thread_at, 32, options);
    }
  }
}

TEST(Segments, OfACapture) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/one-weekend-ser.rrt");
  std::mt19937_64 random(9);
  test::Plan plan(trace, test::linear_assignment(trace.launches.at(0).data.threads(), 32));
  const auto schedule = plan.schedule("ser");
  simt::SegmentReplayOptions options;
  options.detail = true;
  options.weights = test::random_weights(2, trace.shaders.size(), random);
  compare(plan.launch(), plan.shaders(), plan.segments(), schedule.segment_at, 32, options);
}

// Segments and schedule that a device made are in its memory: with the device's copies instead of uploads, the same.
TEST(Segments, ThatAreOnTheDevice) {
  std::mt19937_64 random(7);
  trace::Trace trace;
  trace.shaders = test::shaders_of_all_stages(6);
  trace.launches.push_back(test::RandomLaunch(6, random()).make(1000, 5));
  const trace::Launch& launch = trace.launches[0];
  const auto order = test::linear_assignment(launch.data.threads(), 32);
  const auto accelerator = test::open_accelerator();
  trace::AcceleratedLaunch resident(*accelerator, launch);
  const auto created = scheduler::SchedulerModels::create("ser");
  const auto segments = scheduler::cut_paths(launch, created.model->cut(), &resident);
  const scheduler::MachineFacts machine;
  const scheduler::HintSources hints;
  const auto schedule = created.model->schedule({trace, launch, order, segments, machine, hints, &resident});
  ASSERT_NE(segments.on_device, nullptr);
  ASSERT_NE(schedule.on_device, nullptr);
  simt::SegmentReplayOptions options;
  options.weights = test::random_weights(2, trace.shaders.size(), random);
  const auto expected = simt::replay_segments(launch, trace.shaders, segments, schedule.segment_at, 32, options);
  options.on_device = &resident;
  options.schedule_on_device = schedule.on_device.get();
  test::expect_equal(simt::replay_segments(launch, trace.shaders, segments, schedule.segment_at, 32, options),
                     expected);
}

TEST(Segments, OnTwoDevices) {
  std::mt19937_64 random(6);
  const auto shaders = test::shaders_of_all_stages(6);
  const trace::Launch launch = test::RandomLaunch(6, random()).make(1000, 5);
  const auto segments = scheduler::cut_paths(launch, {.at = scheduler::CutAt::PendingCall});
  const auto places = test::shuffled_assignment(segments.size(), 32, random);
  simt::SegmentReplayOptions options;
  options.detail = true;
  options.weights = test::random_weights(2, shaders.size(), random);
  const auto expected = simt::replay_segments(launch, shaders, segments, places.thread_at, 32, options);
  const auto accelerator = test::open_accelerator(2);
  trace::AcceleratedLaunch resident(*accelerator, launch);
  options.on_device = &resident;
  test::expect_equal(simt::replay_segments(launch, shaders, segments, places.thread_at, 32, options), expected);
  ASSERT_EQ(accelerator->records().size(), 1U);
  EXPECT_EQ(accelerator->records()[0].stage, "replay of segments");
  EXPECT_NE(accelerator->records()[0].device, "CPU");
}

}  // namespace
}  // namespace rayreplay
