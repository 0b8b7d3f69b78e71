#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "capture/reference/scene.hpp"
#include "capture/reference/vec.hpp"

namespace rayreplay::reference {
namespace {

struct Hit {
  double t = std::numeric_limits<double>::infinity();
  bool front = false;
  MaterialKind kind = MaterialKind::Diffuse;
};

/// The closest triangle along a ray, by testing every one.
Hit closest(const RenderScene& scene, const Vec3& from, const Vec3& to) {
  Hit best;
  for (const auto& instance : scene.instances) {
    const SceneGeometry& part = scene.geometries[scene.blases[instance.blas].first_geometry];
    const auto& v = part.geometry.vertices;
    const auto& i = part.geometry.indices;
    for (std::size_t t = 0; t < i.size() / 3; ++t) {
      const auto corner = [&](std::size_t k) -> Vec3 {
        const std::size_t row = i[t * 3 + k] * std::size_t{3};
        return Vec3(&v[row]) - from;
      };
      const Vec3 a = corner(0);
      const Vec3 b = corner(1);
      const Vec3 c = corner(2);
      const double u = static_cast<double>(dot(b.cross(a), to));
      const double w = static_cast<double>(dot(c.cross(b), to));
      const double q = static_cast<double>(dot(a.cross(c), to));
      if ((u < 0 || w < 0 || q < 0) && (u > 0 || w > 0 || q > 0)) {
        continue;
      }
      const Vec3 normal = (b - a).cross(c - a);
      const double slope = static_cast<double>(dot(normal, to));
      const double distance = static_cast<double>(dot(normal, a)) / slope;
      if (slope != 0 && distance > 0 && distance < best.t) {
        best = {distance, slope < 0, scene.materials[part.material[0]].kind};
      }
    }
  }
  return best;
}

TEST(Cornell, IsClosedButForTheSideOfTheCamera) {
  const RenderScene scene = make_scene("cornell", nullptr);
  // From a point that the blocks do not hide much of, towards points of a sphere, without the front hemisphere.
  const Vec3 from{278, 400, 100};
  int rays = 0;
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 60; ++j) {
      const double polar = (i + 0.5) * std::numbers::pi / 60;
      const double turn = (j + 0.5) * std::numbers::pi / 60;
      const Vec3 to{static_cast<float>(std::sin(polar) * std::cos(turn)), static_cast<float>(std::cos(polar)),
                    static_cast<float>(std::sin(polar) * std::sin(turn))};
      const Hit hit = closest(scene, from, to);
      EXPECT_TRUE(std::isfinite(hit.t)) << to.x() << ' ' << to.y() << ' ' << to.z();
      EXPECT_TRUE(hit.front) << "a wall is seen from behind at " << to.x() << ' ' << to.y() << ' ' << to.z();
      ++rays;
    }
  }
  EXPECT_EQ(rays, 3600);
}

TEST(Cornell, LampShinesDownAndNothingElseShines) {
  const RenderScene scene = make_scene("cornell", nullptr);
  const Hit up = closest(scene, {278, 400, 280}, {0, 1, 0});
  EXPECT_EQ(up.kind, MaterialKind::Emissive);
  EXPECT_NEAR(up.t, 148.3, 1e-3);
  EXPECT_TRUE(up.front);
  EXPECT_EQ(scene.sky.top.maxCoeff() + scene.sky.bottom.maxCoeff(), 0);
  std::size_t triangles = 0;
  for (const auto& part : scene.geometries) {
    triangles += part.geometry.primitives();
  }
  EXPECT_EQ(triangles, 32U);
}

TEST(Cornell, BlocksFaceOutward) {
  const RenderScene scene = make_scene("cornell", nullptr);
  for (const Vec3& target : {Vec3{185, 80, 169}, Vec3{368, 160, 351}}) {
    for (const Vec3& from : {Vec3{10, 400, 10}, Vec3{540, 400, 10}, Vec3{278, 400, 540}, Vec3{278, 540, 100}}) {
      EXPECT_TRUE(closest(scene, from, target - from).front);
    }
  }
}

TEST(Cornell, ParametersPickMaterialsAndTheSphere) {
  std::string spec;
  const RenderScene plain = make_scene("cornell:metal=false", &spec);
  EXPECT_EQ(spec, "cornell:glass_sphere=false,metal=false,light=1");
  for (const auto& material : plain.materials) {
    EXPECT_NE(material.kind, MaterialKind::Metal);
  }
  const RenderScene glass = make_scene("cornell:glass_sphere=true,light=2", nullptr);
  const SceneGeometry& sphere = glass.geometries.back();
  EXPECT_EQ(sphere.geometry.type, trace::GeometryType::Boxes);
  EXPECT_EQ(glass.materials[sphere.material[0]].kind, MaterialKind::Dielectric);
  EXPECT_EQ(glass.instances.size(), 5U);
  EXPECT_EQ(glass.materials[3].color.x(), 34);
}

}  // namespace
}  // namespace rayreplay::reference
