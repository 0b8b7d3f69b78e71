// What holds for every ray: its grammar, its shaders, its flags, and the sums over a launch.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/reference/support.hpp"

namespace rayreplay::test {
namespace {

using reference::HitGroups;
using trace::EventKind;
using trace::ShaderStage;

struct Case {
  std::string name;
  reference::RenderScene scene;
  reference::TracerOptions options;
};

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const HitGroups groups : {HitGroups::Single, HitGroups::PerMaterial}) {
    for (const std::string integrator : {"path", "ao:rays=2", "primary"}) {
      for (const bool mixed : {false, true}) {
        auto options = small_options();
        options.integrator = integrator;
        options.hit_groups = groups;
        options.next_event = mixed;
        result.push_back(
            {integrator + (mixed ? ", mixed" : ", spheres"), mixed ? mixed_scene(11) : sphere_cloud(80, 12), options});
      }
    }
  }
  return result;
}

/// The grammar as capture/trace/validate.hpp states it, by hand.
void expect_grammar(const RayStory& story) {
  const auto& events = story.events;
  std::size_t i = 1;
  const auto is = [&](EventKind kind) { return i < events.size() && events[i].kind == kind; };
  const auto any_hit = [&] {
    if (is(EventKind::AnyHit)) {
      ++i;
      i += is(EventKind::IgnoreIntersection) ? 1U : 0U;
    }
  };
  while (is(EventKind::Intersection) || is(EventKind::AnyHit)) {
    if (is(EventKind::Intersection)) {
      ++i;
      if (is(EventKind::ReportIntersection)) {
        ++i;
        any_hit();
      }
    } else {
      any_hit();
    }
  }
  if (is(EventKind::Miss) || (!story.occlusion() && is(EventKind::ClosestHit))) {
    ++i;
  } else {
    EXPECT_TRUE(story.occlusion()) << "a ray that is no occlusion ray ends in a shader";
  }
  EXPECT_EQ(i, events.size());
}

TEST(Events, GrammarConservationAndCounts) {
  for (const auto& [name, scene, options] : cases()) {
    SCOPED_TRACE(name);
    MemorySink sink;
    const auto result = reference::trace_scene(scene, options, &sink);
    ASSERT_EQ(sink.data.threads(), 48U * 32U);
    std::array<std::uint64_t, trace::kEventKinds> counts{};
    std::uint64_t implicit_hits = 0;
    const auto stories = sink.stories();
    for (const auto& story : stories) {
      expect_grammar(story);
      for (const auto& event : story.events) {
        ++counts.at(static_cast<std::size_t>(event.kind));
      }
      implicit_hits += story.occlusion() && story.events.back().kind != EventKind::Miss ? 1U : 0U;
    }
    EXPECT_EQ(counts, result.events);
    const auto of = [&](EventKind kind) { return counts.at(static_cast<std::size_t>(kind)); };
    EXPECT_EQ(result.rays, stories.size());
    EXPECT_EQ(result.rays, of(EventKind::Begin) + of(EventKind::OcclusionBegin));
    EXPECT_EQ(result.occlusion_rays, of(EventKind::OcclusionBegin));
    EXPECT_EQ(of(EventKind::Begin) + of(EventKind::OcclusionBegin),
              of(EventKind::Miss) + of(EventKind::ClosestHit) + implicit_hits);
    EXPECT_GE(of(EventKind::Begin), sink.data.threads() * options.samples);
  }
}

TEST(Events, ShadersHaveTheStageOfTheirEvent) {
  for (const auto& [name, scene, options] : cases()) {
    SCOPED_TRACE(name);
    MemorySink sink;
    reference::trace_scene(scene, options, &sink);
    const auto shaders = reference::describe_capture(scene, options).shaders;
    std::vector<bool> used(shaders.size(), false);
    for (std::size_t i = 0; i < sink.data.events.size(); ++i) {
      const std::uint16_t shader = sink.data.events.shader[i];
      ASSERT_LT(shader, shaders.size());
      used[shader] = true;
      ShaderStage expected = ShaderStage::RayGeneration;
      switch (sink.data.events.kind[i]) {
        case EventKind::Intersection:
        case EventKind::ReportIntersection:
          expected = ShaderStage::Intersection;
          break;
        case EventKind::AnyHit:
        case EventKind::IgnoreIntersection:
          expected = ShaderStage::AnyHit;
          break;
        case EventKind::ClosestHit:
          expected = ShaderStage::ClosestHit;
          break;
        case EventKind::Miss:
          expected = ShaderStage::Miss;
          break;
        default:
          break;
      }
      ASSERT_EQ(shaders[shader].stage, expected) << "row " << i;
    }
    for (std::size_t shader = 0; shader < shaders.size(); ++shader) {
      EXPECT_TRUE(used[shader]) << shaders[shader].name;
    }
  }
}

TEST(Events, TraceCallsAreWhatAnApplicationPasses) {
  for (const auto& [name, scene, options] : cases()) {
    SCOPED_TRACE(name);
    MemorySink sink;
    reference::trace_scene(scene, options, &sink);
    const bool opaque = name.find("spheres") != std::string::npos;
    const bool mixed_table = !opaque && options.hit_groups == HitGroups::PerMaterial;
    for (const auto& story : sink.stories()) {
      const unsigned skip = story.occlusion() ? trace::kRayFlagSkipClosestHit | trace::kRayFlagTerminateOnFirstHit : 0U;
      ASSERT_EQ(story.flags, skip | (opaque ? unsigned{trace::kRayFlagOpaque} : 0U));
      ASSERT_EQ(story.miss_index, story.occlusion() ? 1 : 0);
      ASSERT_EQ(story.sbt_stride, mixed_table ? 1 : 0);
      ASSERT_LT(story.ray.t_min, story.ray.t_max);
      ASSERT_NEAR(reference::length(story.ray.direction), 1.0F, 1e-5F);
    }
    EXPECT_EQ(sink.columns.geometry, !opaque);
    EXPECT_EQ(sink.data.events.geometry.empty(), opaque);
  }
}

TEST(Events, PathsAreAsLongAsTheDepthAllows) {
  auto options = small_options();
  options.samples = 1;
  for (const std::uint32_t depth : {1U, 2U, 5U}) {
    options.depth = depth;
    MemorySink sink;
    reference::trace_scene(sphere_cloud(80, 12), options, &sink);
    std::uint64_t longest = 0;
    for (std::size_t thread = 0; thread < sink.data.threads(); ++thread) {
      longest = std::max(longest, sink.data.ray_offset[thread + 1] - sink.data.ray_offset[thread]);
    }
    EXPECT_EQ(longest, depth);
  }
}

TEST(Events, OneSphereByHand) {
  SceneKit kit;
  kit.add_spheres({0, 0, 0, 1}, kit.material(reference::MaterialKind::Emissive, {1, 2, 3}));
  kit.scene.camera = {.from = {0, 0, 5}, .at = {0, 0, 0}, .up = {0, 1, 0}, .vertical_fov_degrees = 0.001F};
  kit.scene.camera.focus_distance = 1;
  reference::TracerOptions options;
  options.width = 1;
  options.height = 1;
  options.samples = 1;
  options.t_max = 100;
  MemorySink sink;
  const auto result = reference::trace_scene(kit.scene, options, &sink);
  const auto stories = sink.stories();
  ASSERT_EQ(stories.size(), 1U);
  const auto& events = stories[0].events;
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0], (Event{EventKind::Begin, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(events[1], (Event{EventKind::Intersection, 1, 100, 0, 0, 0, 0, 0}));
  EXPECT_EQ(events[2], (Event{EventKind::ReportIntersection, 1, 4, 0, 0, 0, 0, 1}));
  EXPECT_EQ(events[3], (Event{EventKind::ClosestHit, 2, 4, 0, 0, 0, 0, 0}));
  EXPECT_EQ(result.image.rgb, (std::vector<float>{1, 2, 3}));
}

TEST(Events, AnIgnoredSquareLetsTheRayThrough) {
  SceneKit kit;
  const std::uint32_t holes = kit.perforated(1);
  kit.scene.textures[0].rgba[3] = 0;  // nothing but a hole
  kit.add_square(holes, false, reference::translation({0, 0, 1}));
  kit.add_square(kit.material(reference::MaterialKind::Emissive, {1, 1, 1}), true,
                 reference::rotation_x(3.141592653589793));
  kit.scene.camera = {.from = {0.25F, 0.5F, 5}, .at = {0.25F, 0.5F, 0}, .up = {0, 1, 0}};
  kit.scene.camera.vertical_fov_degrees = 0.001F;
  reference::TracerOptions options;
  options.width = 1;
  options.height = 1;
  options.samples = 1;
  MemorySink sink;
  reference::trace_scene(kit.scene, options, &sink);
  const auto stories = sink.stories();
  ASSERT_EQ(stories.size(), 1U);
  const auto& events = stories[0].events;
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[1].kind, EventKind::AnyHit);
  EXPECT_NEAR(events[1].t, 4, 1e-4);
  EXPECT_EQ(events[1].hit_kind, trace::kHitKindFrontFacing);
  EXPECT_EQ(events[2].kind, EventKind::IgnoreIntersection);
  EXPECT_EQ(events[3].kind, EventKind::ClosestHit);
  EXPECT_NEAR(events[3].t, 5, 1e-4);
  EXPECT_EQ(events[3].instance, 1U);
  EXPECT_EQ(events[3].hit_kind, trace::kHitKindBackFacing);
}

TEST(Events, AnInstanceWithoutMaskIsInvisible) {
  auto scene = sphere_cloud(10, 3);
  for (auto& instance : scene.instances) {
    instance.mask = 0;
  }
  MemorySink sink;
  const auto result = reference::trace_scene(scene, small_options(), &sink);
  EXPECT_EQ(result.events.at(static_cast<std::size_t>(EventKind::Intersection)), 0U);
  EXPECT_EQ(result.events.at(static_cast<std::size_t>(EventKind::Miss)), result.rays);
}

}  // namespace
}  // namespace rayreplay::test
