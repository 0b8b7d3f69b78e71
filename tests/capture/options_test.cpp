// The layer's options on a whole program: none changes the picture, and the trace shows what was asked.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/capture/captured.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

constexpr std::uint32_t kWidth = 21;
constexpr std::uint32_t kHeight = 13;
const std::vector<std::string> kArguments{"--size", "21x13", "--spp", "1", "--depth", "5"};

std::vector<std::string> with(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = kArguments;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::array<std::size_t, trace::kEventKinds> count_kinds(const trace::Launch& launch) {
  std::array<std::size_t, trace::kEventKinds> counts{};
  for (const trace::EventKind kind : launch.data.events.kind) {
    ++counts.at(static_cast<std::size_t>(kind));
  }
  return counts;
}

std::size_t count(const trace::Launch& launch, trace::EventKind kind) {
  return count_kinds(launch).at(static_cast<std::size_t>(kind));
}

std::size_t rays_of(const trace::Launch& launch, std::size_t thread) {
  return launch.data.ray_offset[thread + 1] - launch.data.ray_offset[thread];
}

/// Making opaque geometry observable shows what the application's own any-hit shaders would have seen.
TEST(CaptureOptions, ObserveAllSeesWhatAnyHitShadersSee) {
  const std::vector<std::string> scene = with({"--scene", "cornell"});
  std::vector<std::string> any_hit = scene;
  any_hit.emplace_back("--any-hit");
  const Captured plain = capture(kMeshViewer, scene);
  const Captured observed = capture(kMeshViewer, scene, {{"RAYREPLAY_CAPTURE_OBSERVE_ALL", "on"}});
  const Captured own = capture(kMeshViewer, any_hit);
  EXPECT_EQ(observed.picture, plain.picture);
  EXPECT_EQ(own.picture, plain.picture);
  EXPECT_EQ(count(plain.trace.launches.at(0), trace::EventKind::AnyHit), 0U);
  // Each closest hit was a candidate before.
  EXPECT_GE(count(own.trace.launches.at(0), trace::EventKind::AnyHit),
            count(own.trace.launches.at(0), trace::EventKind::ClosestHit));
  EXPECT_EQ(count_kinds(observed.trace.launches.at(0)), count_kinds(own.trace.launches.at(0)));
}

/// Procedural geometry needs no any-hit shader to be seen: its reports are.
TEST(CaptureOptions, ObserveAllAddsNothingToSpheres) {
  const Captured plain = capture(kOneWeekend, kArguments);
  const Captured observed = capture(kOneWeekend, kArguments, {{"RAYREPLAY_CAPTURE_OBSERVE_ALL", "on"}});
  EXPECT_EQ(observed.picture, plain.picture);
  EXPECT_GT(count(plain.trace.launches.at(0), trace::EventKind::ReportIntersection), 0U);
  EXPECT_EQ(count_kinds(observed.trace.launches.at(0)), count_kinds(plain.trace.launches.at(0)));
}

/// A random permutation, and the file that holds it.
struct Swizzle {
  explicit Swizzle(std::uint32_t threads) : order(threads) {
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), std::mt19937(3));
    const auto* bytes = reinterpret_cast<const char*>(order.data());
    file = folder.write("swizzle.bin", std::string_view(bytes, order.size() * sizeof(order[0])));
  }
  TemporaryFolder folder;
  std::vector<std::uint32_t> order;
  std::string file;
};

/// A swizzle in the program: thread t does what thread order[t] did without.
TEST(CaptureOptions, SwizzleOfTheProgram) {
  const Swizzle swizzle(kWidth * kHeight);
  const Captured plain = capture(kOneWeekend, kArguments);
  const Captured own = capture(kOneWeekend, with({"--swizzle", swizzle.file}));
  EXPECT_EQ(own.picture, plain.picture);
  const trace::Launch& launch = plain.trace.launches.at(0);
  const trace::Launch& swizzled = own.trace.launches.at(0);
  for (std::size_t thread = 0; thread < swizzle.order.size(); ++thread) {
    const std::uint32_t source = swizzle.order[thread];
    ASSERT_EQ(rays_of(swizzled, thread), rays_of(launch, source)) << "thread " << thread;
    EXPECT_EQ(swizzled.data.rays.direction_x[swizzled.data.ray_offset[thread]],
              launch.data.rays.direction_x[launch.data.ray_offset[source]]);
  }
}

/// A swizzle by the layer: the launch ids that the program reads are others, and the trace's threads are those that the
/// program knows. What has moved is where they run: thread order[t] runs in the lane that was thread t's.
TEST(CaptureOptions, SwizzleOfTheLayer) {
  const Swizzle swizzle(kWidth * kHeight);
  const Captured plain = capture(kOneWeekend, kArguments);
  const Captured layer =
      capture(kOneWeekend, kArguments,
              {{"RAYREPLAY_CAPTURE_SWIZZLE", swizzle.file}, {"RAYREPLAY_CAPTURE_SWIZZLE_SIZE", "21x13x1"}});
  EXPECT_EQ(layer.picture, plain.picture);
  const trace::Launch& launch = plain.trace.launches.at(0);
  const trace::Launch& swizzled = layer.trace.launches.at(0);
  ASSERT_EQ(swizzled.thread_lane.size(), swizzle.order.size());
  for (std::size_t thread = 0; thread < swizzle.order.size(); ++thread) {
    ASSERT_EQ(rays_of(swizzled, thread), rays_of(launch, thread)) << "thread " << thread;
    EXPECT_EQ(swizzled.data.rays.direction_x[swizzled.data.ray_offset[thread]],
              launch.data.rays.direction_x[launch.data.ray_offset[thread]]);
    EXPECT_EQ(swizzled.thread_lane[swizzle.order[thread]], launch.thread_lane[thread]) << "thread " << thread;
  }
}

TEST(CaptureOptions, WindowRecordsItsThreadsAlone) {
  const Captured plain = capture(kOneWeekend, kArguments);
  const Captured window = capture(kOneWeekend, kArguments, {{"RAYREPLAY_CAPTURE_WINDOW", "3,4,10,5"}});
  EXPECT_EQ(window.picture, plain.picture);
  for (std::uint32_t y = 0; y < kHeight; ++y) {
    for (std::uint32_t x = 0; x < kWidth; ++x) {
      const bool inside = x >= 3 && x < 13 && y >= 4 && y < 9;
      const std::size_t thread = y * kWidth + x;
      EXPECT_EQ(rays_of(window.trace.launches.at(0), thread), inside ? rays_of(plain.trace.launches.at(0), thread) : 0)
          << x << ", " << y;
    }
  }
}

/// A full buffer is counted, and what is there is sound: `load` has checked it.
TEST(CaptureOptions, FullMemoryIsCounted) {
  const std::vector<std::string> arguments{"--size", "64x36", "--spp", "1", "--depth", "5"};
  const Captured small = capture(kOneWeekend, arguments, {{"RAYREPLAY_CAPTURE_MEMORY", "64KiB"}});
  EXPECT_EQ(small.picture, render(kOneWeekend, arguments));
  const trace::Launch& launch = small.trace.launches.at(0);
  EXPECT_GT(launch.dropped_events, 0U);
  EXPECT_GT(launch.data.events.size(), 0U);
}

TEST(CaptureOptions, FramesAreChosen) {
  const std::vector<std::string> arguments = with({"--frames", "4", "--launches-per-frame", "2"});
  const Captured all = capture(kOneWeekend, arguments);
  const auto in_frames = [](const trace::Launch& launch) { return launch.frame >= 1 && launch.frame <= 2; };
  const auto expected = std::count_if(all.trace.launches.begin(), all.trace.launches.end(), in_frames);
  ASSERT_EQ(all.trace.launches.size(), 8U);
  ASSERT_GT(expected, 0);
  ASSERT_LT(expected, 8);
  const Captured chosen = capture(kOneWeekend, arguments, {{"RAYREPLAY_CAPTURE_FRAMES", "1..2"}});
  EXPECT_EQ(chosen.picture, all.picture);
  EXPECT_EQ(static_cast<std::ptrdiff_t>(chosen.trace.launches.size()), expected);
  EXPECT_TRUE(std::all_of(chosen.trace.launches.begin(), chosen.trace.launches.end(), in_frames));
}

}  // namespace
}  // namespace rayreplay::test
