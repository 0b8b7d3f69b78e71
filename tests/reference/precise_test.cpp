// The exact tests behind the events: rounding outward, edges and faces, the root that is reported.
#include "capture/reference/precise.hpp"

#include <gtest/gtest.h>

#include "capture/reference/random.hpp"
#include "capture/reference/texture.hpp"
#include "tests/reference/support.hpp"

namespace rayreplay::test {
namespace {

using reference::precise_ray;

constexpr std::array<float, 6> kUnitBox{0, 0, 0, 1, 1, 1};

bool meets(const Vec3& origin, const Vec3& direction, float t_min = 0, float t_max = 100) {
  return reference::meets_box(precise_ray(origin, direction), kUnitBox.data(), t_min, t_max);
}

TEST(Box, FacesEdgesAndCornersCount) {
  EXPECT_TRUE(meets({0, 0.5F, -1}, {0, 0, 1})) << "in a face";
  EXPECT_TRUE(meets({1, 1, -1}, {0, 0, 1})) << "along an edge";
  EXPECT_TRUE(meets({-1, 1, 1}, {1, -1, -1})) << "through a corner";
  EXPECT_FALSE(meets({2, 2, 0}, {-1, 0, 0}));
  EXPECT_FALSE(meets({std::nextafter(1.0F, 2.0F), 0.5F, -1}, {0, 0, 1})) << "beside a face, parallel to it";
  EXPECT_FALSE(meets({-0.0001F, 0.5F, -1}, {0, 0, 1}));
  EXPECT_TRUE(meets({0.5F, 0.5F, 0.5F}, {0, 0, 1})) << "from inside";
}

TEST(Box, OnlyWithinTheInterval) {
  EXPECT_TRUE(meets({0.5F, 0.5F, -1}, {0, 0, 1}, 0, 1)) << "ends on the box";
  EXPECT_FALSE(meets({0.5F, 0.5F, -1}, {0, 0, 1}, 0, 0.999F));
  EXPECT_TRUE(meets({0.5F, 0.5F, -1}, {0, 0, 1}, 2, 3)) << "begins on the box";
  EXPECT_FALSE(meets({0.5F, 0.5F, -1}, {0, 0, 1}, 2.001F, 3));
  EXPECT_FALSE(meets({0.5F, 0.5F, -1}, {0, 0, -1})) << "behind the ray";
}

/// Rays aimed at random points on a box's surface always meet it, from anywhere and under any transform.
TEST(Box, NeverMissesAPointOfItself) {
  reference::Random random(4, 4);
  for (int i = 0; i < 20000; ++i) {
    std::array<float, 6> box{};
    std::array<float, 3> target{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const float a = 100 * random.symmetric();
      const float b = 100 * random.symmetric();
      box.at(axis) = std::min(a, b);
      box.at(axis + 3) = std::max(a, b);
      target.at(axis) = std::clamp(a + (b - a) * random.uniform(), box.at(axis), box.at(axis + 3));
    }
    const auto side = static_cast<std::size_t>(random.uniform() * 3);
    target.at(side) = random.uniform() < 0.5F ? box.at(side) : box.at(side + 3);
    // The origin is the target moved by a vector that floats hold exactly, so that the ray goes through it exactly.
    reference::PreciseRay ray;
    for (Eigen::Index axis = 0; axis < 3; ++axis) {
      const double step = std::round(64 * static_cast<double>(random.symmetric()));
      ray.origin[axis] = static_cast<double>(target.at(static_cast<std::size_t>(axis))) - 4 * step;
      ray.direction[axis] = step;
      ray.inverse[axis] = 1 / step;
    }
    ASSERT_TRUE(reference::meets_box(ray, box.data(), 0, 4)) << i;
    ASSERT_TRUE(reference::meets_box(ray, box.data(), 4, 5)) << i;
  }
}

TEST(Sphere, ReportsTheNearerRootInTheInterval) {
  const std::array<float, 4> sphere{0, 0, 0, 1};
  const auto ray = precise_ray({0, 0, -3}, {0, 0, 1});
  const auto root = [&](float t_min, float t_max) {
    return reference::intersect_sphere(ray, sphere.data(), t_min, t_max);
  };
  EXPECT_EQ(root(0, 10).t, 2);
  EXPECT_EQ(root(0, 10).hit_kind, 0);
  EXPECT_EQ(root(2.5F, 10).t, 4);
  EXPECT_EQ(root(2.5F, 10).hit_kind, 1);
  EXPECT_TRUE(root(0, 2).found) << "the interval is closed";
  EXPECT_TRUE(root(4, 10).found);
  EXPECT_FALSE(root(0, 1.9F).found);
  EXPECT_FALSE(root(2.5F, 3.5F).found);
  EXPECT_FALSE(root(4.1F, 10).found);
}

/// The book's ground: its radius is a million times the distances that matter on it.
TEST(Sphere, LargeSpheresShowNoCancellation) {
  const std::array<float, 4> ground{0, -1000, 0, 1000};
  const auto root = reference::intersect_sphere(precise_ray({0, 0.001F, 0}, {0, -1, 0}), ground.data(), 0, 100);
  ASSERT_TRUE(root.found);
  EXPECT_FLOAT_EQ(root.t, 0.001F);
}

TEST(Triangle, DistanceWeightsAndFacing) {
  const std::array<float, 9> t{0, 0, 0, 4, 0, 0, 0, 4, 0};
  const auto hit = [&](const Vec3& origin, const Vec3& direction) {
    return reference::intersect_triangle(precise_ray(origin, direction), t.data(), t.data() + 3, t.data() + 6);
  };
  const auto front = hit({1, 2, 5}, {0, 0, -1});
  EXPECT_TRUE(front.valid);
  EXPECT_TRUE(front.front) << "counterclockwise to the viewer, in right-handed coordinates";
  EXPECT_EQ(front.t, 5);
  EXPECT_EQ(front.u, 0.25);
  EXPECT_EQ(front.v, 0.5);
  EXPECT_FALSE(hit({1, 2, -5}, {0, 0, 1}).front);
  EXPECT_FALSE(hit({1, 2, 5}, {1, 0, 0}).valid) << "in the triangle's plane";
}

TEST(Texture, NearestTexelRepeatsFromRowZero) {
  SceneKit kit;
  const std::uint32_t id = kit.perforated(2);
  auto& texture = kit.scene.textures[0];
  texture.rgba = {255, 0, 0, 255, 0, 255, 0, 0, 0, 0, 255, 128, 51, 51, 51, 255};
  const auto at = [&](float u, float v) { return look_up(kit.scene, kit.scene.materials[id], {u, v}); };
  EXPECT_EQ(at(0.2F, 0.2F).color.x(), 1);
  EXPECT_EQ(at(0.7F, 0.2F).color.y(), 1);
  EXPECT_EQ(at(0.7F, 0.2F).alpha, 0);
  EXPECT_EQ(at(0.2F, 0.7F).color.z(), 1);
  EXPECT_FLOAT_EQ(at(0.7F, 0.7F).color.x(), 0.04F) << "gamma of 2";
  EXPECT_EQ(at(-0.3F, 5.2F).color.y(), 1);
  EXPECT_EQ(at(std::numeric_limits<float>::quiet_NaN(), 0).color.x(), 1) << "an undefined place is the first texel";
  EXPECT_EQ(at(-1e-9F, 0).color.y(), 1) << "just below zero is the last column";
}

TEST(Random, StreamsAreUniformAndApart) {
  reference::Random one(1, 0);
  reference::Random same_one(1, 0);
  reference::Random other_thread(1, 1);
  reference::Random other_seed(2, 0);
  double sum = 0;
  int equal = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const float x = one.uniform();
    ASSERT_EQ(x, same_one.uniform());
    ASSERT_TRUE(x >= 0 && x < 1);
    equal += (x == other_thread.uniform() ? 1 : 0) + (x == other_seed.uniform() ? 1 : 0);
    sum += static_cast<double>(x);
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_LT(equal, 5);
}

}  // namespace
}  // namespace rayreplay::test
