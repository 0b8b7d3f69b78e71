// Segments cut on the device against those cut on the processor.
#include <gtest/gtest.h>

#include "capture/trace/reader.hpp"
#include "kernels/regrouping/segments.hpp"
#include "tests/kernels-regrouping/support.hpp"
#include "tests/regrouping/support.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay {
namespace {

using scheduler::Cut;
using scheduler::cut_paths;
using scheduler::CutAt;

void expect_twin(const trace::Launch& launch, const Cut& cut, const std::string& what) {
  trace::AcceleratedLaunch on_device(test::shared_accelerator(), launch);
  const scheduler::Segments found = cut_paths(launch, cut, &on_device);
  test::expect_same(found, cut_paths(launch, cut), what);
  ASSERT_NE(found.on_device, nullptr);
  EXPECT_EQ(static_cast<const kernels::SegmentsOnDevice*>(found.on_device.get())->size, found.size());
}

TEST(CutOnDevice, RandomLaunches) {
  for (const std::uint32_t threads : {1U, 255U, 300U, 3000U}) {
    const trace::Launch launch = test::RandomLaunch(11, threads).make(threads, 9);
    expect_twin(launch, {}, "nothing");
    expect_twin(launch, {.at = CutAt::PendingCall}, "pending calls");
    expect_twin(launch, {.at = CutAt::EveryCall}, "every call");
    expect_twin(launch, {.at = CutAt::EveryCall, .inline_any_hit = true}, "every call but any-hit");
    expect_twin(launch, {.at = CutAt::PendingCall, .first_bounce = 2}, "from bounce 2");
  }
}

TEST(CutOnDevice, NamedRaysSitesAndReorderCalls) {
  for (const bool ray : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const trace::Trace trace =
          test::random_trace({.seed = seed, .size = {16, 8, 1}, .rays_per_thread = 8, .ray = ray, .capture = true});
      const trace::Launch& launch = trace.launches.at(0);
      const std::string what = "seed " + std::to_string(seed) + (ray ? ", rays named" : "");
      expect_twin(launch, {.at = CutAt::PendingCall}, what);
      expect_twin(launch, {.at = CutAt::EveryCall, .inline_any_hit = true}, what + ", every call");
      expect_twin(launch, {.at = CutAt::PendingCall, .first_bounce = 1, .captured_only = true}, what + ", reordered");
      expect_twin(launch, {.at = CutAt::PendingCall, .site = launch.data.rays.site.at(0)}, what + ", site");
    }
  }
}

TEST(CutOnDevice, Captures) {
  for (const char* const name : {"one-weekend-ser", "teapot-alpha"}) {
    const trace::Trace trace = trace::load(std::string(RAYREPLAY_SOURCE_DIR "/tests/data/h200/") + name + ".rrt");
    expect_twin(trace.launches.at(0), {.at = CutAt::PendingCall}, name);
    expect_twin(trace.launches.at(0), {.at = CutAt::EveryCall}, name);
  }
  const trace::Trace ser = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/one-weekend-ser.rrt");
  expect_twin(ser.launches.at(0), {.at = CutAt::PendingCall, .captured_only = true}, "reordered");
}

TEST(CutOnDevice, NoThreadsAndNoEvents) {
  expect_twin(trace::Launch{}, {.at = CutAt::PendingCall}, "no threads");
  expect_twin(test::RandomLaunch(11, 1).make(40, 0), {.at = CutAt::PendingCall}, "no events");
}

TEST(CutOnDevice, BouncesBeyond16Bits) {
  test::LaunchBuilder builder({2, 1, 1});
  for (int thread = 0; thread < 2; ++thread) {
    builder.thread();
    for (int ray = 0; ray < 70'000; ++ray) {
      builder.begin(0).miss(1);
    }
  }
  expect_twin(builder.build(), {.at = CutAt::PendingCall}, "70,000 rays a thread");
}

TEST(CutOnDevice, TheSameWhereverALaunchIsDivided) {
  kernels::DeviceOptions options;
  options.batch_seconds = 1e-6;
  const auto accelerator = test::open_accelerator(1, true, options);
  const trace::Launch launch = test::RandomLaunch(11, 3).make(20'000, 4);
  trace::AcceleratedLaunch on_device(*accelerator, launch);
  for (int repeat = 0; repeat < 2; ++repeat) {  // the second time with known costs
    test::expect_same(cut_paths(launch, {.at = CutAt::PendingCall}, &on_device),
                      cut_paths(launch, {.at = CutAt::PendingCall}), "slices");
  }
}

TEST(CutOnDevice, TooLittleMemoryGoesOnOnTheProcessor) {
  kernels::DeviceOptions options;
  options.memory_limit = 1 << 16;
  const auto accelerator = test::open_accelerator(1, false, options);
  const trace::Launch launch = test::RandomLaunch(11, 3).make(20'000, 4);
  trace::AcceleratedLaunch on_device(*accelerator, launch);
  const scheduler::Segments found = cut_paths(launch, {.at = CutAt::PendingCall}, &on_device);
  EXPECT_EQ(found.on_device, nullptr);
  test::expect_same(found, cut_paths(launch, {.at = CutAt::PendingCall}), "processor");
  ASSERT_EQ(accelerator->records().size(), 1U);
  EXPECT_EQ(accelerator->records().at(0).device, "CPU");
}

}  // namespace
}  // namespace rayreplay
