// Do the integrators compute the light that they should?
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "capture/reference/integrator.hpp"
#include "capture/reference/lights.hpp"
#include "tests/reference/support.hpp"

namespace rayreplay::test {
namespace {

using reference::MaterialKind;

Vec3 mean(const reference::Image& image) {
  double sum[3] = {0, 0, 0};
  for (std::size_t i = 0; i < image.rgb.size(); ++i) {
    sum[i % 3] += static_cast<double>(image.rgb[i]);
  }
  const double pixels = static_cast<double>(image.rgb.size()) / 3;
  return {static_cast<float>(sum[0] / pixels), static_cast<float>(sum[1] / pixels),
          static_cast<float>(sum[2] / pixels)};
}

reference::TracerOptions many_samples(std::uint32_t samples) {
  auto options = small_options();
  options.width = 24;
  options.height = 24;
  options.samples = samples;
  return options;
}

/// In a closed white furnace every path sees radiance 1 in the end: a diffuse sphere vanishes against it.
TEST(Path, WhiteFurnace) {
  SceneKit kit;
  kit.add_spheres({0, 0, 0, 1}, kit.material(MaterialKind::Diffuse, {1, 1, 1}));
  kit.add_spheres({0.5F, 1.2F, 0, 0.5F}, kit.material(MaterialKind::Dielectric, {1, 1, 1}));
  kit.scene.sky = {{1, 1, 1}, {1, 1, 1}};
  auto options = many_samples(4);
  options.depth = 200;
  for (const float value : reference::trace_scene(kit.scene, options, nullptr).image.rgb) {
    ASSERT_NEAR(value, 1.0F, 1e-5F);
  }
}

/// A square lamp over a square floor in the dark, seen from between: the irradiance at the floor's centre has a closed
/// form.
TEST(Path, LampOverFloorMatchesTheClosedForm) {
  SceneKit kit;
  const double pi = std::numbers::pi;
  kit.add_square(kit.material(MaterialKind::Diffuse, {0.5F, 0.5F, 0.5F}), true, reference::rotation_x(-pi / 2));
  kit.add_square(kit.material(MaterialKind::Emissive, {3, 2, 1}), true,
                 reference::compose(reference::translation({0, 2, 0}), reference::rotation_x(std::numbers::pi / 2)));
  kit.scene.sky = {{0, 0, 0}, {0, 0, 0}};
  // Straight down at the centre from below the lamp.
  kit.scene.camera = {.from = {0, 1, 0}, .at = {0, 0, 0}, .up = {0, 0, 1}, .vertical_fov_degrees = 0.1F};
  // Form factor of a 2×2 square at height 2 over a parallel element under its centre: four quarter squares of 1×1.
  const double x = 1.0 / 2.0;
  const double quarter = x / std::sqrt(1 + x * x) * std::atan(x / std::sqrt(1 + x * x)) / pi;
  const double expected = 0.5 * 4 * quarter;
  for (const bool next_event : {false, true}) {
    auto options = many_samples(1000);
    options.next_event = next_event;
    const Vec3 seen = mean(reference::trace_scene(kit.scene, options, nullptr).image);
    EXPECT_NEAR(static_cast<double>(seen.x()), 3 * expected, 0.01 * expected);
    EXPECT_NEAR(static_cast<double>(seen.y()), 2 * expected, 0.01 * expected);
    EXPECT_NEAR(static_cast<double>(seen.z()), 1 * expected, 0.01 * expected);
  }
}

TEST(Path, NextEventEstimationChangesTheNoiseOnly) {
  auto scene = mixed_scene(31);
  auto options = many_samples(3000);
  options.depth = 4;
  const Vec3 without = mean(reference::trace_scene(scene, options, nullptr).image);
  options.next_event = true;
  const Vec3 with = mean(reference::trace_scene(scene, options, nullptr).image);
  EXPECT_NEAR(with.x(), without.x(), 0.004F * without.x());
  EXPECT_NEAR(with.y(), without.y(), 0.004F * without.y());
  EXPECT_NEAR(with.z(), without.z(), 0.004F * without.z());
}

/// Sampling a light covers its world area: the mean of inverse densities over one light is its area.
TEST(Lights, InverseDensityIntegratesToTheArea) {
  SceneKit kit;
  const std::uint32_t lamp = kit.material(MaterialKind::Emissive, {1, 1, 1});
  // A square stretched to 2×6 and a sphere squeezed to an oblate ellipsoid with half axes 1, 1, 1/2.
  kit.add_square(lamp, true, reference::compose(reference::rotation_x(0.3), reference::scaling({1, 3, 1})));
  kit.add_spheres({0, 0, 0, 0.5F}, lamp, true, reference::scaling({2, 2, -1}));
  const reference::Lights lights(kit.scene);
  reference::Random random(1, 2);
  double square = 0;
  double ellipsoid = 0;
  constexpr int kSamples = 200000;
  for (int i = 0; i < kSamples; ++i) {
    const auto sample = lights.sample(random);
    (sample.two_sided ? square : ellipsoid) += static_cast<double>(sample.inverse_density);
    if (!sample.two_sided) {
      ASSERT_GT(rayreplay::dot(sample.normal, sample.point), 0);
    }
  }
  const double e = std::sqrt(1 - 0.25);
  const double area = 2 * std::numbers::pi * (1 + (1 - e * e) / e * std::atanh(e));
  EXPECT_NEAR(square / kSamples, 12, 0.12);
  EXPECT_NEAR(ellipsoid / kSamples, area, 0.01 * area);
}

TEST(AmbientOcclusion, OpenFloorIsWhiteAndACreaseIsHalfDark) {
  SceneKit kit;
  const std::uint32_t plain = kit.material(MaterialKind::Diffuse);
  kit.add_square(plain);
  kit.scene.camera.vertical_fov_degrees = 5;
  auto options = many_samples(50);
  options.integrator = "ao:rays=8,distance=100";
  for (const float value : reference::trace_scene(kit.scene, options, nullptr).image.rgb) {
    ASSERT_EQ(value, 1.0F);
  }
  // A wall on the edge of the view's centre hides half of the cosine-weighted hemisphere at its foot.
  kit.add_square(plain, true,
                 reference::compose(reference::compose(reference::translation({0.001F, 0, 0}),
                                                       reference::rotation_y(std::numbers::pi / 2)),
                                    reference::scaling({1000, 1000, 1})));
  kit.scene.camera = {.from = {-0.5F, 0, 5}, .at = {0, 0, 0}, .up = {0, 1, 0}, .vertical_fov_degrees = 1e-4F};
  options.integrator = "ao:rays=8,distance=1000";
  options.t_min = 1e-4F;
  EXPECT_NEAR(mean(reference::trace_scene(kit.scene, options, nullptr).image).x(), 0.5F, 0.01F);
}

TEST(Primary, ShowsNormals) {
  SceneKit kit;
  kit.add_square(kit.material(MaterialKind::Diffuse));
  kit.scene.camera.vertical_fov_degrees = 5;
  auto options = many_samples(1);
  options.integrator = "primary:show=normal";
  const Vec3 seen = mean(reference::trace_scene(kit.scene, options, nullptr).image);
  EXPECT_NEAR(seen.x(), 0.5F, 1e-6F);
  EXPECT_NEAR(seen.y(), 0.5F, 1e-6F);
  EXPECT_NEAR(seen.z(), 1.0F, 1e-6F);
}

TEST(Diffuse, TracesOneRayASampleFromTheFirstHit) {
  SceneKit kit;
  kit.add_square(kit.material(MaterialKind::Diffuse));
  kit.scene.camera.vertical_fov_degrees = 5;
  kit.scene.sky = {{1, 1, 1}, {1, 1, 1}};
  auto options = many_samples(1);
  options.integrator = "diffuse";
  MemorySink sink;
  const reference::Image image = reference::trace_scene(kit.scene, options, &sink).image;
  // All rays leave the square upwards, so none meets it again.
  const std::vector<RayStory> stories = sink.stories();
  ASSERT_EQ(stories.size(), std::size_t{options.width} * options.height);
  for (const RayStory& story : stories) {
    ASSERT_NEAR(story.ray.origin.z(), 0, 1e-5F);
    ASSERT_GT(story.ray.direction.z(), 0);
    ASSERT_EQ(story.events.back().kind, trace::EventKind::Miss);
  }
  const Vec3 seen = mean(image);
  EXPECT_NEAR(seen.x(), kit.scene.materials.at(0).color.x(), 1e-5F);
}

/// The camera, between floor and lid, sees the floor: rays of bounce 1 start there, and those of bounce 2 on the lid,
/// unless the path has left.
TEST(Diffuse, TracesTheRayOfTheBounceAskedFor) {
  SceneKit kit;
  const double pi = std::numbers::pi;
  kit.add_square(kit.material(MaterialKind::Diffuse), true, reference::rotation_x(-pi / 2));
  kit.add_square(kit.material(MaterialKind::Diffuse), true,
                 reference::compose(reference::translation({0, 1, 0}), reference::rotation_x(pi / 2)));
  kit.scene.camera = {.from = {0, 0.5F, 0}, .at = {0, 0, 0}, .up = {0, 0, 1}, .vertical_fov_degrees = 0.1F};
  auto options = many_samples(1);
  std::size_t on_lid[3] = {};
  for (const int bounce : {1, 2, 3}) {
    options.integrator = "diffuse:bounce=" + std::to_string(bounce);
    MemorySink sink;
    static_cast<void>(reference::trace_scene(kit.scene, options, &sink));
    const std::vector<RayStory> stories = sink.stories();
    ASSERT_EQ(stories.size(), std::size_t{options.width} * options.height);
    for (const RayStory& story : stories) {
      const bool lid = std::abs(story.ray.origin.y() - 1) < 1e-4F;
      ASSERT_TRUE(lid || std::abs(story.ray.origin.y()) < 1e-4F);
      ASSERT_EQ(story.ray.direction.y() < 0, lid);
      on_lid[bounce - 1] += lid ? 1U : 0U;
      if (lid && bounce == 3) {
        ASSERT_EQ(story.events.back().kind, trace::EventKind::Miss);  // a path that went on would be on the floor
      }
    }
  }
  EXPECT_EQ(on_lid[0], 0U);
  EXPECT_GT(on_lid[1], 100U);
  EXPECT_GT(on_lid[2], 0U);
  EXPECT_LT(on_lid[2], on_lid[1]);
}

TEST(Diffuse, FollowsTheCameraRayWhereItHitsNothing) {
  SceneKit kit;
  kit.add_square(kit.material(MaterialKind::Diffuse));
  kit.scene.camera.at = kit.scene.camera.from * 2;
  auto options = many_samples(1);
  options.integrator = "diffuse";
  MemorySink sink;
  static_cast<void>(reference::trace_scene(kit.scene, options, &sink));
  for (const RayStory& story : sink.stories()) {
    ASSERT_EQ(story.ray.origin, kit.scene.camera.from);
    ASSERT_EQ(story.events.size(), 2U);
  }
}

TEST(Integrators, AreListed) {
  EXPECT_EQ(Registry<reference::Integrator>::names(), (std::vector<std::string>{"ao", "diffuse", "path", "primary"}));
}

}  // namespace
}  // namespace rayreplay::test
