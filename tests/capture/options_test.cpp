// The layer's options on a whole program: none changes the picture, and the trace shows what was asked.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <utility>
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

/// SER put into whole programs, above a layer that stands for a device with hit objects (tests/layer-ser): the same
/// picture and events, and a reorder call for each ray that runs shaders at its end.
TEST(CaptureOptions, InsertedReorderingChangesNoProgram) {
  const auto expect_same = [](const std::string& program, const std::vector<std::string>& arguments) {
    const Captured plain = capture(program, arguments);
    const Captured reordered =
        capture(program, arguments,
                {{"VK_ADD_LAYER_PATH", RAYREPLAY_LAYER_FOLDER ":" RAYREPLAY_HIT_OBJECTS_FOLDER},
                 {"VK_INSTANCE_LAYERS", "VK_LAYER_RAYREPLAY_capture:VK_LAYER_RAYREPLAY_test_hit_objects"},
                 {"RAYREPLAY_CAPTURE_INSERT_SER", "6: bounce 8 * material 8 % +"}});
    EXPECT_EQ(reordered.picture, plain.picture);
    auto counts = count_kinds(reordered.trace.launches.at(0));
    const auto kReorder = static_cast<std::size_t>(trace::EventKind::Reorder);
    const std::size_t reorders = std::exchange(counts.at(kReorder), 0);
    EXPECT_EQ(counts, count_kinds(plain.trace.launches.at(0)));
    std::size_t rays = 0;
    for (const RayStory& story : tell_rays(plain.trace.launches.at(0))) {
      rays += story.occlusion ? 0U : 1U;
    }
    EXPECT_EQ(reorders, rays);
  };
  expect_same(kOneWeekend, kArguments);
  expect_same(kMeshViewer, with({"--scene", "cornell"}));
}

struct ObserveAllCase {
  std::string name;
  std::vector<std::string> arguments;
};

void PrintTo(const ObserveAllCase& value, std::ostream* out) {
  *out << value.name;
}

class ObserveAll : public testing::TestWithParam<ObserveAllCase> {};

/// Pipelines with any-hit shaders of their own, rays with the Opaque flag, opaque geometry beside other: the picture
/// stays, and of opaque geometry is seen what an any-hit shader on everything would see.
TEST_P(ObserveAll, KeepsThePictureAndSeesOpaqueGeometry) {
  const std::vector<std::string> scene = with(GetParam().arguments);
  std::vector<std::string> any_hit = scene;
  any_hit.emplace_back("--any-hit");
  const Captured observed = capture(kMeshViewer, scene, {{"RAYREPLAY_CAPTURE_OBSERVE_ALL", "on"}});
  EXPECT_EQ(observed.picture, render(kMeshViewer, scene));
  const trace::Launch& launch = observed.trace.launches.at(0);
  EXPECT_NE(observed.trace.header.configuration.find(R"("observe_all":true)"), std::string::npos);
  for (const std::string& line : observed.trace.header.not_captured) {
    EXPECT_EQ(line.find("observe"), std::string::npos) << line;
  }
  // Every hit was a candidate before, and every ray ends once.
  std::size_t hits = 0, unseen = 0, wrong = 0;
  for (const RayStory& story : tell_rays(launch)) {
    const auto candidates =
        std::count_if(story.during_traversal.begin(), story.during_traversal.end(),
                      [&](std::uint64_t row) { return launch.data.events.kind[row] == trace::EventKind::AnyHit; });
    const std::uint32_t ends = story.closest_hits + story.misses;
    hits += story.closest_hits;
    unseen += story.closest_hits > 0 && candidates == 0 ? 1U : 0U;
    wrong += (story.occlusion ? story.closest_hits == 0 && ends <= 1 : ends == 1) ? 0U : 1U;
  }
  EXPECT_GT(hits, std::size_t{kWidth * kHeight / 2});
  EXPECT_EQ(unseen, 0U);
  EXPECT_EQ(wrong, 0U);
  const Captured own = capture(kMeshViewer, any_hit);
  EXPECT_EQ(count_kinds(launch), count_kinds(own.trace.launches.at(0)));
}

INSTANTIATE_TEST_SUITE_P(Scenes, ObserveAll,
                         testing::Values(ObserveAllCase{"hall", {"--scene", "hall"}},
                                         ObserveAllCase{"hall_alpha", {"--scene", "hall", "--alpha"}},
                                         ObserveAllCase{"hall_recursion", {"--scene", "hall", "--recursion"}},
                                         ObserveAllCase{"cornell", {"--scene", "cornell"}},
                                         ObserveAllCase{"cornell_alpha", {"--scene", "cornell", "--alpha"}},
                                         ObserveAllCase{"cornell_recursion",
                                                        {"--scene", "cornell", "--recursion", "--alpha"}}),
                         [](const auto& test) { return test.param.name; });

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
