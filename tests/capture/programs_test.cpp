// The programs of capture/apps under the layer: the picture stays what it was, and the trace's books balance.
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "tests/capture/captured.hpp"

namespace rayreplay::test {
namespace {

struct Case {
  std::string name;
  std::string program;
  std::vector<std::string> arguments;
  std::size_t launches = 1;
};

void PrintTo(const Case& value, std::ostream* out) {
  *out << value.name;
}

class CapturedProgram : public testing::TestWithParam<Case> {};

std::vector<std::string> arguments_of(const Case& test) {
  std::vector<std::string> arguments{"--size", "21x13", "--spp", "1", "--depth", "5"};
  arguments.insert(arguments.end(), test.arguments.begin(), test.arguments.end());
  return arguments;
}

/// Every ray ends once: a closest hit or a miss, and for a shadow ray a miss or nothing, when something is in the way.
void expect_conservation(const trace::Launch& launch) {
  std::size_t wrong = 0;
  for (const RayStory& story : tell_rays(launch)) {
    const std::uint32_t ends = story.closest_hits + story.misses;
    wrong += (story.occlusion ? story.closest_hits == 0 && ends <= 1 : ends == 1) ? 0U : 1U;
  }
  EXPECT_EQ(wrong, 0U) << "rays that do not end once";
}

/// Groups partition the events that warps execute, and each has as many events as lanes.
void expect_whole_groups(const trace::Launch& launch, std::uint32_t warp_size) {
  const trace::Events& events = launch.data.events;
  ASSERT_EQ(events.group.size(), events.size());
  std::vector<std::uint32_t> lanes(launch.groups.size());
  for (std::size_t row = 0; row < events.size(); ++row) {
    if (trace::is_warp_event(events.kind[row])) {
      ASSERT_LT(events.group[row], lanes.size());
      ++lanes[events.group[row]];
    }
  }
  std::size_t wrong = 0;
  for (std::size_t group = 0; group < lanes.size(); ++group) {
    const auto active = static_cast<std::uint32_t>(std::popcount(launch.groups.lane_mask[group]));
    EXPECT_LE(active, warp_size);
    // Groups of events that are no calls of their own, such as reports, are counted with their calls.
    wrong += lanes[group] == active || lanes[group] == 0 ? 0U : 1U;
  }
  EXPECT_EQ(wrong, 0U) << "groups that do not have as many events as lanes";
}

TEST_P(CapturedProgram, KeepsItsPictureAndBooksBalance) {
  const Case& test = GetParam();
  const Pixels plain = render(test.program, arguments_of(test));
  const Captured captured = capture(test.program, arguments_of(test));
  EXPECT_EQ(captured.picture, plain);
  ASSERT_EQ(captured.trace.launches.size(), test.launches);
  for (const trace::Launch& launch : captured.trace.launches) {
    EXPECT_EQ(launch.size, (trace::LaunchSize{21, 13, 1}));
    EXPECT_EQ(launch.dropped_events, 0U);
    // One sample: every thread traces a camera ray.
    for (std::size_t thread = 0; thread < launch.data.threads(); ++thread) {
      EXPECT_LT(launch.data.ray_offset[thread], launch.data.ray_offset[thread + 1]) << "thread " << thread;
    }
    expect_conservation(launch);
    expect_whole_groups(launch, captured.trace.header.warp_size);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, CapturedProgram,
    testing::Values(Case{"one_weekend", kOneWeekend, {}, 1},
                    Case{"one_weekend_any_hit", kOneWeekend, {"--any-hit", "--hit-groups", "per-material"}, 1},
                    Case{"one_weekend_recursion", kOneWeekend, {"--recursion"}, 1},
                    Case{"one_weekend_launches", kOneWeekend, {"--frames", "2", "--launches-per-frame", "2"}, 4},
                    Case{"viewer_hall", kMeshViewer, {"--scene", "hall"}, 1},
                    Case{"viewer_hall_holes", kMeshViewer, {"--scene", "hall", "--alpha", "--index16"}, 1},
                    Case{"viewer_animate", kMeshViewer, {"--scene", "hall", "--animate", "--frames", "2"}, 2},
                    Case{"viewer_mixed", kMeshViewer, {"--scene", "cornell:glass_sphere=true", "--compact"}, 1},
                    Case{"viewer_recursion",
                         kMeshViewer,
                         {"--scene", "cornell:glass_sphere=true", "--recursion", "--hit-groups", "per-material",
                          "--any-hit"},
                         1}),
    [](const auto& test) { return test.param.name; });

/// Bounces from a loop and from hit shaders are the same rays.
TEST(CapturedProgram, RecursionTracesTheSameRays) {
  const std::vector<std::string> arguments{"--size", "21x13", "--spp", "1", "--depth", "5"};
  std::vector<std::string> recursive = arguments;
  recursive.emplace_back("--recursion");
  const Captured loop = capture(kOneWeekend, arguments);
  const Captured nested = capture(kOneWeekend, recursive);
  const trace::ThreadData& a = loop.trace.launches.at(0).data;
  const trace::ThreadData& b = nested.trace.launches.at(0).data;
  ASSERT_EQ(a.rays.size(), b.rays.size());
  ASSERT_GT(a.rays.size(), std::size_t{21 * 13});
  for (std::size_t thread = 0; thread <= a.threads(); ++thread) {
    ASSERT_EQ(a.ray_offset[thread], b.ray_offset[thread]);
  }
  for (std::size_t ray = 0; ray < a.rays.size(); ++ray) {
    EXPECT_EQ(a.rays.origin_x[ray], b.rays.origin_x[ray]);
    EXPECT_EQ(a.rays.origin_z[ray], b.rays.origin_z[ray]);
    EXPECT_EQ(a.rays.direction_y[ray], b.rays.direction_y[ray]);
  }
}

}  // namespace
}  // namespace rayreplay::test
