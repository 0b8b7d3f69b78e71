#include <gtest/gtest.h>

#include <array>
#include <string>

#include "capture/reference/scene.hpp"
#include "capture/reference/vec.hpp"

namespace rayreplay::reference {
namespace {

std::array<int, kMaterialKinds> count_kinds(const RenderScene& scene) {
  std::array<int, kMaterialKinds> count{};
  for (const auto& part : scene.geometries) {
    ++count[static_cast<std::size_t>(scene.materials[part.material[0]].kind)];
  }
  return count;
}

TEST(OneWeekend, SphereIsGeometryIsInstance) {
  std::string spec;
  const RenderScene scene = make_scene("one-weekend", &spec);
  EXPECT_EQ(spec, "one-weekend:seed=42");
  ASSERT_EQ(scene.instances.size(), scene.geometries.size());
  ASSERT_EQ(scene.blases.size(), scene.geometries.size());
  for (std::uint32_t i = 0; i < scene.instances.size(); ++i) {
    EXPECT_EQ(scene.instances[i].blas, i);
    EXPECT_EQ(as_transform(scene.instances[i].transform), Transform::Identity());
    EXPECT_EQ(scene.instances[i].mask, 0xFF);
    EXPECT_EQ(scene.blases[i].first_geometry, i);
    EXPECT_EQ(scene.blases[i].geometry_count, 1U);
    const SceneGeometry& sphere = scene.geometries[i];
    EXPECT_EQ(sphere.geometry.type, trace::GeometryType::Boxes);
    EXPECT_EQ(sphere.geometry.primitives(), 1U);
    EXPECT_TRUE(sphere.geometry.opaque);
    EXPECT_EQ(scene.instances[i].hit_group_offset,
              static_cast<std::uint32_t>(scene.materials[sphere.material.at(0)].kind));
  }
}

TEST(OneWeekend, HasTheBooksSpheres) {
  const RenderScene scene = make_scene("one-weekend", nullptr);
  const std::size_t spheres = scene.geometries.size();
  // Four of 488 are fixed; a handful fall into the gap around (4, 0.2, 0).
  EXPECT_GE(spheres, 478U);
  EXPECT_LE(spheres, 488U);
  EXPECT_EQ(scene.geometries.front().spheres, (std::vector<float>{0, -1000, 0, 1000}));
  EXPECT_EQ(scene.geometries[spheres - 3].spheres, (std::vector<float>{0, 1, 0, 1}));
  EXPECT_EQ(scene.geometries[spheres - 2].spheres, (std::vector<float>{-4, 1, 0, 1}));
  EXPECT_EQ(scene.geometries[spheres - 1].spheres, (std::vector<float>{4, 1, 0, 1}));
  for (std::size_t i = 1; i + 3 < spheres; ++i) {
    const auto& s = scene.geometries[i].spheres;
    EXPECT_EQ(s[3], 0.2F);
    EXPECT_GT(length(Vec3{s[0], s[1], s[2]} - Vec3{4, 0.2F, 0}), 0.9F);
    const Material& material = scene.materials[scene.geometries[i].material[0]];
    if (material.kind == MaterialKind::Metal) {
      EXPECT_GE(material.color.x(), 0.5F);
      EXPECT_LE(material.fuzz, 0.5F);
    }
  }
  const auto kinds = count_kinds(scene);
  EXPECT_EQ(kinds[3], 0);
  EXPECT_NEAR(kinds[0], 0.80 * 484, 40);
  EXPECT_NEAR(kinds[1], 0.15 * 484, 35);
  EXPECT_NEAR(kinds[2], 0.05 * 484, 20);
}

// Pinned: a change here changes every trace of the scene. The figures were computed apart, with Python's Mersenne
// Twister.
TEST(OneWeekend, IsPinnedForSeed42) {
  const RenderScene scene = make_scene("one-weekend:seed=42", nullptr);
  const auto kinds = count_kinds(scene);
  EXPECT_EQ(scene.geometries.size(), 486U);
  EXPECT_EQ(kinds[0], 388);
  EXPECT_EQ(kinds[1], 71);
  EXPECT_EQ(kinds[2], 27);
  EXPECT_EQ(scene.geometries[1].spheres, (std::vector<float>{-10.1443567F, 0.2F, -10.3412056F, 0.2F}));
}

TEST(OneWeekend, SeedChangesOnlyTheSmallSpheres) {
  const RenderScene a = make_scene("one-weekend:seed=1", nullptr);
  const RenderScene b = make_scene("one-weekend:seed=2", nullptr);
  EXPECT_NE(a.geometries[1].spheres, b.geometries[1].spheres);
  EXPECT_EQ(a.geometries[0].spheres, b.geometries[0].spheres);
  EXPECT_EQ(a.camera.from.x(), 13);
}

}  // namespace
}  // namespace rayreplay::reference
