#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "capture/reference/scene.hpp"
#include "capture/reference/vec.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::reference {
namespace {

using test::error_of;
using testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct BadScene {
  const char* name;
  std::function<void(RenderScene&)> damage;
  const char* message;
};

void PrintTo(const BadScene& bad, std::ostream* stream) {
  *stream << bad.name;
}

class SceneCheck : public testing::TestWithParam<BadScene> {};

// Geometry 0: room, triangles; 4: glass sphere, box.
TEST_P(SceneCheck, NamesTheFault) {
  RenderScene scene = make_scene("cornell:glass_sphere=true", nullptr);
  EXPECT_NO_THROW(check(scene));
  GetParam().damage(scene);
  const auto error = error_of([&] { check(scene); });
  EXPECT_EQ(error.kind(), ErrorKind::Input);
  EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  EXPECT_FALSE(error.info().expected.empty());
  EXPECT_FALSE(error.info().fix.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Faults, SceneCheck,
    testing::Values(
        BadScene{"nan_vertex", [](RenderScene& s) { s.geometries[0].geometry.vertices[7] = kNan; },
                 "geometry 0 'room', vertices[2]: a value is not finite (found nan"},
        BadScene{"infinite_vertex", [](RenderScene& s) { s.geometries[0].geometry.vertices[0] = -kInfinity; },
                 "found -inf"},
        BadScene{"nan_normal", [](RenderScene& s) { s.geometries[0].normals[3] = kNan; }, "normals[1]"},
        BadScene{"nan_uv", [](RenderScene& s) { s.geometries[0].uvs[3] = kNan; }, "uvs[1]"},
        BadScene{"short_normals", [](RenderScene& s) { s.geometries[0].normals.pop_back(); }, "the wrong size"},
        BadScene{"half_vertex", [](RenderScene& s) { s.geometries[0].geometry.vertices.push_back(1); }, "vertices"},
        BadScene{"half_triangle", [](RenderScene& s) { s.geometries[0].geometry.indices.push_back(1); }, "indices"},
        BadScene{"index", [](RenderScene& s) { s.geometries[0].geometry.indices[4] = 20; },
                 "geometry 0 'room', triangle 1: a vertex index is out of range (found 20; expected less than 20"},
        BadScene{"empty", [](RenderScene& s) { s.geometries[0].geometry.indices.clear(); }, "a geometry is empty"},
        BadScene{"material", [](RenderScene& s) { s.geometries[0].material[3] = 99; },
                 "material[3]: a material id is out of range"},
        BadScene{"material_rows", [](RenderScene& s) { s.geometries[0].material.pop_back(); },
                 "the wrong number of materials"},
        BadScene{"mixed_kinds", [](RenderScene& s) { s.geometries[0].material[3] = 3; }, "mixes material kinds"},
        BadScene{"texture", [](RenderScene& s) { s.materials[1].texture = 0; },
                 "material 1 'red': a texture id is out of range"},
        BadScene{"texels",
                 [](RenderScene& s) {
                   s.textures.push_back({2, 2, {0, 0, 0, 0}});
                 },
                 "texture 0"},
        BadScene{"color", [](RenderScene& s) { s.materials[1].color.y() = -1; }, "a colour is negative"},
        BadScene{"fuzz", [](RenderScene& s) { s.materials[1].fuzz = 2; }, "fuzz is out of range"},
        BadScene{"refraction", [](RenderScene& s) { s.materials[1].refraction_index = 0; }, "refraction index"},
        BadScene{"cutoff", [](RenderScene& s) { s.materials[1].alpha_cutoff = kNan; }, "alpha cut-off"},
        BadScene{"kind", [](RenderScene& s) { s.materials[1].kind = static_cast<MaterialKind>(9); },
                 "a material kind is out of range"},
        BadScene{"radius", [](RenderScene& s) { s.geometries[4].spheres[3] = 0; }, "a sphere has no radius"},
        BadScene{"box", [](RenderScene& s) { s.geometries[4].geometry.boxes[0] += 1; },
                 "a box does not hold its sphere"},
        BadScene{"nan_box", [](RenderScene& s) { s.geometries[4].geometry.boxes[0] = kNan; }, "boxes[0]"},
        BadScene{"spheres", [](RenderScene& s) { s.geometries[4].spheres.pop_back(); }, "spheres"},
        BadScene{"blas", [](RenderScene& s) { s.blases[2].geometry_count = 99; }, "bottom-level structure 2"},
        BadScene{"blas_empty", [](RenderScene& s) { s.blases[2].geometry_count = 0; }, "bottom-level structure 2"},
        BadScene{"no_instances", [](RenderScene& s) { s.instances.clear(); }, "the scene is empty"},
        BadScene{"instance", [](RenderScene& s) { s.instances[1].blas = 77; }, "instance 1"},
        BadScene{"flat",
                 [](RenderScene& s) {
                   as_transform(s.instances[1].transform) = scaling({1, 0, 1});
                 },
                 "instance 1: an instance's transform is singular"},
        BadScene{"sheared_flat",
                 [](RenderScene& s) { s.instances[1].transform = {1, 2, 3, 0, 2, 4, 6, 0, 0, 0, 1, 0}; }, "singular"},
        BadScene{"nan_transform", [](RenderScene& s) { s.instances[1].transform[3] = kNan; }, "transform[0]"},
        BadScene{"offset", [](RenderScene& s) { s.instances[1].hit_group_offset = 1U << 24U; }, "24 bits"},
        BadScene{"view", [](RenderScene& s) { s.camera.at = s.camera.from; }, "no orientation"},
        BadScene{"up",
                 [](RenderScene& s) {
                   s.camera.up = {0, 0, 2};
                 },
                 "no orientation"},
        BadScene{"fov", [](RenderScene& s) { s.camera.vertical_fov_degrees = 180; }, "field of view"},
        BadScene{"lens", [](RenderScene& s) { s.camera.focus_distance = 0; }, "lens"},
        BadScene{"sky", [](RenderScene& s) { s.sky.top.x() = kInfinity; }, "sky"}),
    [](const auto& fault) { return std::string(fault.param.name); });

TEST(SceneCheck, SmallAndMirroredTransformsAreLegal) {
  RenderScene scene = make_scene("cornell", nullptr);
  as_transform(scene.instances[1].transform) = scaling({1e-6F, 1e-6F, 1e-6F});
  as_transform(scene.instances[2].transform) = scaling({-1, 2, 3});
  EXPECT_NO_THROW(check(scene));
}

TEST(SceneCheck, DegenerateTrianglesAreLegal) {
  RenderScene scene = make_scene("cornell", nullptr);
  scene.geometries[0].geometry.indices[1] = scene.geometries[0].geometry.indices[0];
  EXPECT_NO_THROW(check(scene));
}

TEST(MakeScene, UnknownNamesSuggest) {
  const auto error = error_of([] { (void)make_scene("cornel", nullptr); });
  EXPECT_EQ(error.kind(), ErrorKind::Usage);
  EXPECT_THAT(error.what(), HasSubstr("did you mean 'cornell'?"));
  const auto key = error_of([] { (void)make_scene("one-weekend:sed=1", nullptr); });
  EXPECT_THAT(key.what(), HasSubstr("did you mean 'seed'?"));
}

}  // namespace
}  // namespace rayreplay::reference
