// The hall has no roof over its nave, but no ray that goes down may leave it.
#include <gtest/gtest.h>

#include <algorithm>

#include "capture/reference/scene.hpp"
#include "tests/reference/support.hpp"

namespace rayreplay::reference {
namespace {

TEST(ClosedHall, NoRayThatGoesDownMisses) {
  const RenderScene scene = make_scene("hall:detail=0.1", nullptr);
  TracerOptions options;
  options.width = 480;
  options.height = 270;
  options.samples = 2;
  options.integrator = "primary";
  test::MemorySink sink;
  (void)trace_scene(scene, options, &sink);
  std::uint64_t down = 0;
  std::uint64_t lost = 0;
  std::uint64_t sky = 0;
  for (const test::RayStory& story : sink.stories()) {
    const bool missed = std::any_of(story.events.begin(), story.events.end(),
                                    [](const test::Event& event) { return event.kind == trace::EventKind::Miss; });
    const bool goes_down = story.ray.direction.y() < -0.05F;
    down += goes_down ? 1U : 0U;
    lost += goes_down && missed ? 1U : 0U;
    sky += missed ? 1U : 0U;
  }
  EXPECT_GT(down, 50000U);
  EXPECT_GT(sky, 1000U) << "the nave is open to the sky";
  EXPECT_EQ(lost, 0U);
}

}  // namespace
}  // namespace rayreplay::reference
