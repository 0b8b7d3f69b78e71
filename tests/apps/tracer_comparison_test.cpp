// The programs' pictures against the built-in tracer's of the same scene: both are estimates of the same picture.
//
// Two estimates with different random numbers differ by noise, and so do two pictures of the built-in tracer with
// different seeds. A program's picture must differ from the tracer's no more than those two do from each other (a
// tenth is allowed for chance: measured, the ratio is 0.97 to 1.02). That this bound is sharp is shown by a picture
// that is displaced by one pixel, which exceeds it. Brightness must agree too, since noise hides a small bias.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "capture/reference/image.hpp"
#include "capture/reference/scene.hpp"
#include "capture/reference/tracer.hpp"
#include "tests/apps/run_program.hpp"

namespace rayreplay::test {
namespace {

struct Case {
  std::string name;
  std::string program;
  std::string scene;
  std::vector<std::string> arguments;
  bool next_event = false;
  std::uint32_t width = 64;
  std::uint32_t height = 36;
  std::uint32_t samples = 16;
  std::uint32_t depth = 8;
};

void PrintTo(const Case& value, std::ostream* out) {
  *out << value.name;
}

Pixels trace(const Case& test, std::uint64_t seed) {
  reference::TracerOptions options;
  options.width = test.width;
  options.height = test.height;
  options.samples = test.samples;
  options.depth = test.depth;
  options.seed = seed;
  options.next_event = test.next_event;
  const reference::RenderScene scene = reference::make_scene(test.scene, nullptr);
  return decode_png(reference::encode_png(reference::trace_scene(scene, options, nullptr).image));
}

Pixels displaced(Pixels picture) {
  for (std::uint32_t y = 0; y < picture.height; ++y) {
    const auto row = picture.rgb.begin() + std::ptrdiff_t{y} * picture.width * 3;
    std::rotate(row, row + 3, row + std::ptrdiff_t{picture.width} * 3);
  }
  return picture;
}

double brightness(const Pixels& picture) {
  return std::accumulate(picture.rgb.begin(), picture.rgb.end(), 0.0) / static_cast<double>(picture.rgb.size());
}

class TracerComparison : public testing::TestWithParam<Case> {};

TEST_P(TracerComparison, DiffersByNoiseAlone) {
  const Case& test = GetParam();
  std::vector<std::string> arguments{"--size",  std::to_string(test.width) + "x" + std::to_string(test.height),
                                     "--spp",   std::to_string(test.samples),
                                     "--depth", std::to_string(test.depth)};
  arguments.insert(arguments.end(), test.arguments.begin(), test.arguments.end());
  const Pixels rendered = render(test.program, arguments);
  const Pixels first = trace(test, 1);
  const Pixels second = trace(test, 2);
  const double noise = mean_difference(first, second);
  const double bound = 1.1 * noise;
  RecordProperty("ratio", std::to_string(mean_difference(rendered, first) / noise));
  EXPECT_LT(mean_difference(rendered, first), bound);
  EXPECT_LT(mean_difference(rendered, second), bound);
  EXPECT_GT(mean_difference(displaced(rendered), first), bound);
  // A mean over n values of noise has a 1/sqrt(n) of it; five times that, as values of a pixel are not independent.
  const double spread = 5 * noise / std::sqrt(static_cast<double>(first.rgb.size()) / 3);
  EXPECT_NEAR(brightness(rendered), (brightness(first) + brightness(second)) / 2, spread);
}

INSTANTIATE_TEST_SUITE_P(
    Scenes, TracerComparison,
    testing::Values(Case{.name = "one_weekend", .program = kOneWeekend, .scene = "one-weekend", .arguments = {}},
                    Case{.name = "one_weekend_seed",
                         .program = kOneWeekend,
                         .scene = "one-weekend:seed=7",
                         .arguments = {"--scene-seed", "7"}},
                    Case{.name = "spheres_in_viewer",
                         .program = kMeshViewer,
                         .scene = "one-weekend",
                         .arguments = {"--scene", "one-weekend", "--light", "none"}},
                    Case{.name = "cornell_lights",
                         .program = kMeshViewer,
                         .scene = "cornell:glass_sphere=true",
                         .arguments = {"--scene", "cornell:glass_sphere=true"},
                         .next_event = true,
                         .width = 40,
                         .height = 40,
                         .samples = 64},
                    Case{.name = "hall_lights",
                         .program = kMeshViewer,
                         .scene = "hall",
                         .arguments = {"--scene", "hall"},
                         .next_event = true,
                         .samples = 64,
                         .depth = 3},
                    Case{.name = "hall",
                         .program = kMeshViewer,
                         .scene = "hall",
                         .arguments = {"--scene", "hall", "--light", "none"},
                         .samples = 64,
                         .depth = 3}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rayreplay::test
