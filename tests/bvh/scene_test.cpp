// What takes part in a scene and what is ignored; untrusted numbers; instance boxes that contain.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "bvh/scene.hpp"
#include "tests/support/meshes.hpp"

namespace rayreplay::bvh {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

trace::Geometry mesh(std::vector<float> vertices, std::vector<std::uint32_t> indices) {
  trace::Geometry geometry;
  geometry.vertices.assign(vertices.begin(), vertices.end());
  geometry.indices.assign(indices.begin(), indices.end());
  return geometry;
}

trace::Geometry box_geometry(std::vector<float> rows) {
  trace::Geometry geometry;
  geometry.type = trace::GeometryType::Boxes;
  geometry.boxes.assign(rows.begin(), rows.end());
  return geometry;
}

trace::Instance instance_of(std::uint32_t blas) {
  trace::Instance instance;
  instance.blas = blas;
  return instance;
}

ErrorKind kind_of(const trace::Scene& scene, std::uint32_t tlas, std::string* message = nullptr) {
  try {
    static_cast<void>(prepare_scene(scene, tlas, "t.rrt"));
  } catch (const Error& error) {
    if (message != nullptr) {
      *message = error.what();
    }
    return error.kind();
  }
  return ErrorKind::Internal;
}

TEST(Scene, InactivePrimitivesAreCounted) {
  trace::Scene scene;
  scene.geometries = {
      mesh({0, 0, 0, 1, 0, 0, 0, 1, 0, kNan, 0, 0, 0, kInfinity, 0, 0, 0, -kInfinity},
           {0, 1, 2, 0, 1, 3, 0, 1, 4, 0, 1, 5, 0, 1, 6, 0xFFFF'FFFF, 1, 2, 0, 0, 0}),
      mesh({}, {}),
      box_geometry(
          {0, 0, 0, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 2, 2, kNan, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, kInfinity}),
  };
  scene.blases = {{0, 3}};
  scene.instances = {instance_of(0)};
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  EXPECT_EQ(prepared.ignored.triangles_not_finite, 3U);
  EXPECT_EQ(prepared.ignored.triangles_bad_index, 2U);
  EXPECT_EQ(prepared.ignored.boxes_inverted, 1U);
  EXPECT_EQ(prepared.ignored.boxes_not_finite, 2U);
  EXPECT_EQ(prepared.ignored.total(), 8U);
  EXPECT_EQ(describe(prepared.ignored).size(), 4U);
  const SceneBlas& blas = prepared.blases[0];
  EXPECT_EQ(blas.active, 4U);
  EXPECT_THAT(blas.first_primitive, testing::ElementsAre(0, 7, 7, 12));
  EXPECT_EQ(blas.bounds, (Box{{0, 0, 0}, {2, 2, 2}}));
  EXPECT_EQ(prepared.locate(0, 6), std::pair(0U, 6U));
  EXPECT_EQ(prepared.locate(0, 7), std::pair(2U, 0U));
  EXPECT_EQ(prepared.primitive_box(0, 6), (Box{{0, 0, 0}, {0, 0, 0}}));  // no extent, yet active
  EXPECT_EQ(prepared.primitive_box(0, 8), (Box{{1, 1, 1}, {1, 1, 1}}));
  EXPECT_TRUE(prepared.primitive_box(0, 5).empty());
  EXPECT_TRUE(prepared.primitive_box(0, 9).empty());
}

TEST(Scene, InactiveInstancesAreCounted) {
  trace::Scene scene;
  scene.geometries = {box_geometry({0, 0, 0, 1, 1, 1}), box_geometry({1, 0, 0, 0, 1, 1}), box_geometry({})};
  scene.blases = {{0, 1}, {1, 1}, {2, 1}, {3, 0}};
  const auto add = [&](std::uint32_t blas, std::array<float, 12> transform, std::uint8_t mask) {
    trace::Instance instance = instance_of(blas);
    instance.transform = transform;
    instance.mask = mask;
    scene.instances.push_back(instance);
  };
  constexpr std::array<float, 12> kIdentity{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  add(0, kIdentity, 0xFF);
  add(0, kIdentity, 0);
  add(0, {1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0}, 1);
  add(0, {0.1F, 0.2F, 0.3F, 0, 0.2F, 0.4F, 0.6F, 0, 1, 5, 9, 0}, 1);
  add(0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1);
  add(0, {1, 0, 0, kNan, 0, 1, 0, 0, 0, 0, 1, 0}, 1);
  add(0, {1, 0, 0, 0, 0, kInfinity, 0, 0, 0, 0, 1, 0}, 1);
  add(1, kIdentity, 1);
  add(2, kIdentity, 1);
  add(3, kIdentity, 1);
  add(0, {1e-20F, 0, 0, 0, 0, -1e-10F, 0, 0, 0, 0, 1e20F, 0}, 1);  // uneven, but sound
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  EXPECT_EQ(prepared.ignored.instances_masked, 1U);
  EXPECT_EQ(prepared.ignored.instances_singular, 5U);
  EXPECT_EQ(prepared.ignored.instances_empty, 3U);
  EXPECT_EQ(prepared.ignored.boxes_inverted, 1U);
  EXPECT_TRUE(prepared.instances[0].active);
  EXPECT_TRUE(prepared.instances[0].identity);
  EXPECT_TRUE(prepared.instances[10].active);
  EXPECT_FALSE(prepared.instances[10].identity);
  for (std::size_t i = 1; i < 10; ++i) {
    EXPECT_FALSE(prepared.instances[i].active) << i;
  }
}

TEST(Scene, InstancesOutOfRangeAreCounted) {
  trace::Scene scene;
  scene.geometries = {box_geometry({0, 0, 0, 1, 1, 1})};
  scene.blases = {{0, 1}};
  const auto add = [&](float scale, float shift) {
    trace::Instance instance = instance_of(0);
    instance.transform = {scale, 0, 0, shift, 0, 1, 0, 0, 0, 0, 1, 0};
    scene.instances.push_back(instance);
  };
  constexpr float kMax = 0x1p72F;
  add(kMax, 0);
  add(1 / kMax, 0);
  add(-kMax, 1e38F);
  add(2 * kMax, 0);
  add(0.5F / kMax, 0);
  add(2e-38F, 0);
  add(2e-39F, 0);
  add(0x1p-30F, std::numeric_limits<float>::max());
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  EXPECT_EQ(prepared.ignored.instances_out_of_range, 5U);
  EXPECT_EQ(prepared.ignored.total(), 5U);
  ASSERT_EQ(describe(prepared.ignored).size(), 1U);
  EXPECT_THAT(describe(prepared.ignored).front(), testing::HasSubstr("5 instances whose transform scales"));
  for (std::size_t i = 0; i < scene.instances.size(); ++i) {
    EXPECT_EQ(prepared.instances[i].active, i < 3) << i;
  }
}

TEST(Scene, ErrorsNameWhatIsWrong) {
  trace::Scene scene = test::one_mesh(mesh({0, 0, 0}, {0, 0, 0}));
  EXPECT_EQ(kind_of({}, 0), ErrorKind::Missing);
  EXPECT_EQ(kind_of(scene, 1), ErrorKind::Input);
  EXPECT_EQ(kind_of(scene, trace::kNone), ErrorKind::Input);
  std::string message;
  scene.instances.push_back(instance_of(7));
  EXPECT_EQ(kind_of(scene, 0, &message), ErrorKind::Input);
  EXPECT_THAT(message, testing::HasSubstr("t.rrt:/scene/instances/blas[1]"));
  scene.instances[1] = instance_of(0);
  scene.blases[0] = {0xFFFF'FFFF, 2};
  EXPECT_EQ(kind_of(scene, 0, &message), ErrorKind::Input);
  EXPECT_THAT(message, testing::HasSubstr("/scene/blas[0]"));
  scene.blases[0] = {0, 1};
  scene.tlases = {{1, 0xFFFF'FFFF}};
  EXPECT_EQ(kind_of(scene, 0, &message), ErrorKind::Input);
  EXPECT_THAT(message, testing::HasSubstr("/scene/tlas[0]"));
}

TEST(Scene, EachTopLevelStructureForItself) {
  trace::Scene scene;
  scene.geometries = {box_geometry({0, 0, 0, 1, 1, 1}), box_geometry({0, 0, 0, 1, 1, kNan, 0, 0, 0, 1, 1, 1})};
  scene.blases = {{0, 1}, {1, 1}};
  scene.instances = {instance_of(0), instance_of(1), instance_of(1)};
  scene.tlases = {{0, 1}, {1, 2}, {3, 0}};
  const PreparedScene first = prepare_scene(scene, 0, "t");
  EXPECT_EQ(first.instances.size(), 1U);
  EXPECT_EQ(first.ignored.total(), 0U);
  EXPECT_FALSE(first.blases[1].used);
  const PreparedScene second = prepare_scene(scene, 1, "t");
  EXPECT_EQ(second.instances.size(), 2U);
  EXPECT_EQ(&second.source(0), &scene.instances[1]);
  EXPECT_EQ(second.ignored.boxes_not_finite, 1U);  // once for the structure
  EXPECT_EQ(prepare_scene(scene, 2, "t").instances.size(), 0U);
}

TEST(Scene, InstanceBoxesContainWhatIsTransformed) {
  test::Random random(11);
  for (int round = 0; round < 2000; ++round) {
    trace::Scene scene;
    const float size = std::ldexp(1.0F, static_cast<int>(random.below(60)) - 30);
    const float x = random.unit() * size;
    const float y = random.unit() * size * 1000;
    scene.geometries = {box_geometry({x, y, -size, x + size, y + size, size})};
    scene.blases = {{0, 1}};
    scene.instances = {instance_of(0)};
    for (float& value : scene.instances[0].transform) {
      value = random.unit() * std::ldexp(1.0F, static_cast<int>(random.below(20)) - 10);
    }
    const PreparedScene prepared = prepare_scene(scene, 0, "t");
    const SceneInstance& instance = prepared.instances[0];
    ASSERT_TRUE(instance.active);
    const Box& box = prepared.blases[0].bounds;
    for (int corner = 0; corner < 8; ++corner) {
      Vec3d world;
      for (unsigned row = 0; row < 3; ++row) {
        // Long double: more exact than any rounding in question.
        long double sum = static_cast<long double>(scene.instances[0].transform[row * 4 + 3]);
        for (unsigned column = 0; column < 3; ++column) {
          sum += static_cast<long double>(scene.instances[0].transform[row * 4 + column]) *
                 static_cast<long double>((corner >> column & 1) != 0 ? box.high[column] : box.low[column]);
        }
        ASSERT_LE(static_cast<long double>(instance.world.low[row]), sum);
        ASSERT_GE(static_cast<long double>(instance.world.high[row]), sum);
        world[row] = static_cast<double>(sum);
      }
      for (unsigned row = 0; row < 3; ++row) {
        double back = instance.to_object(row, 3);
        double magnitude = std::abs(back);
        for (unsigned column = 0; column < 3; ++column) {
          back += instance.to_object(row, column) * world[column];
          magnitude += std::abs(instance.to_object(row, column) * world[column]);
        }
        const auto expected = static_cast<double>((corner >> row & 1) != 0 ? box.high[row] : box.low[row]);
        ASSERT_NEAR(back, expected, 1e-9 * magnitude + 1e-9);
      }
    }
  }
}

TEST(Scene, BoxesBeyondTheFloatsStayFinite) {
  trace::Scene scene;
  scene.geometries = {box_geometry({-1e30F, 1e30F, 0, 1e30F, 2e30F, 1})};
  scene.blases = {{0, 1}};
  scene.instances = {instance_of(0)};
  scene.instances[0].transform = {1e30F, 0, 0, 0, 0, 1e30F, 0, 0, 0, 0, 1, 0};
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  constexpr float kMax = std::numeric_limits<float>::max();
  EXPECT_EQ(prepared.instances[0].world, (Box{{-kMax, kMax, 0}, {kMax, kMax, 1}}));
}

}  // namespace
}  // namespace rayreplay::bvh
