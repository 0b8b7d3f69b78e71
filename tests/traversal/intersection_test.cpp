// What the slab test and the triangle test promise: nothing that the ray meets is missed, no gaps along shared edges,
// no dependence on scale, the meaning of the flags.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "bvh/bvh.hpp"
#include "tests/support/meshes.hpp"
#include "tests/support/ray_scenes.hpp"
#include "traversal/kernels/ray_space.hpp"
#include "traversal/kernels/triangle.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::traversal {
namespace {

using test::Random;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

RaySpace space_of(const std::array<float, 3>& origin, const std::array<float, 3>& direction, float t_min = 0) {
  Ray ray;
  ray.origin = origin;
  ray.direction = direction;
  ray.t_min = t_min;
  return world_space(ray);
}

bvh::BoxEntry meet(const bvh::Box& box, const std::array<float, 3>& origin, const std::array<float, 3>& direction,
                   float t_min = 0, float t_max = bvh::kFarthest) {
  return bvh::meet(box, space_of(origin, direction, t_min).box, t_max);
}

const bvh::Box kUnit{{0, 0, 0}, {1, 1, 1}};

TEST(SlabTest, TouchingIsMeeting) {
  EXPECT_TRUE(meet(kUnit, {0, 0.5F, -1}, {0, 0, 1}).met) << "along a face";
  EXPECT_TRUE(meet(kUnit, {1, 1, -1}, {0, 0, 1}).met) << "along an edge";
  EXPECT_TRUE(meet(kUnit, {1, 1, -1}, {-0.0F, -0.0F, 1}).met) << "with negative zeros";
  EXPECT_TRUE(meet(kUnit, {-1, 0, 0.5F}, {1, 1, 0}).met) << "at a corner";
  EXPECT_FALSE(meet(kUnit, {-1, 0, 0.5F}, {1, 1.01F, 0}).met) << "past it";
  EXPECT_TRUE(meet(kUnit, {-1, 0, 0.5F}, {1, 0.99F, 0}).met);
  EXPECT_TRUE(meet(kUnit, {2, 0, 0.5F}, {-1, 1, 0}).met) << "through an edge";
  EXPECT_TRUE(meet({{1, 2, 3}, {1, 2, 3}}, {0, 0, 0}, {1, 2, 3}).met) << "a point";
  EXPECT_TRUE(meet({{0, 1, 0}, {1, 1, 1}}, {0.5F, 1, -1}, {0, 0, 1}).met) << "in the plane of a flat box";
  EXPECT_TRUE(meet(kUnit, {0.5F, 0.5F, 1}, {0, 0, 1}).met) << "from a face outward";
}

TEST(SlabTest, ParallelRaysOutsideAreNotMet) {
  EXPECT_FALSE(meet(kUnit, {1.0000001F, 0.5F, -1}, {0, 0, 1}).met);
  EXPECT_FALSE(meet(kUnit, {-1e-45F, 0.5F, -1}, {0, 0, 1}).met);
  EXPECT_FALSE(meet(kUnit, {0.5F, 0.5F, 2}, {0, 0, 1}).met) << "behind";
}

TEST(SlabTest, EntryAndInterval) {
  EXPECT_NEAR(meet(kUnit, {0.5F, 0.5F, -2}, {0, 0, 2}).entry, 1, 1e-6);
  EXPECT_EQ(meet(kUnit, {0.5F, 0.5F, 0.5F}, {0, 0, 2}, 0.125F).entry, 0.125F) << "from inside";
  EXPECT_FALSE(meet(kUnit, {0.5F, 0.5F, -2}, {0, 0, 1}, 0, 1.999F).met);
  EXPECT_FALSE(meet(kUnit, {0.5F, 0.5F, -2}, {0, 0, 1}, 3.001F).met);
  EXPECT_TRUE(meet(kUnit, {0.5F, 0.5F, 3}, {0, 0, 1}, -10).met) << "behind the origin, with t_min below 0";
  EXPECT_LE(meet(kUnit, {0.5F, 0.5F, 3}, {0, 0, 1}, -kInfinity).entry, -3);
  EXPECT_FALSE(meet(kUnit, {0.5F, 0.5F, 3}, {0, 0, 1}, -1.99F).met);
}

/// Rays end exactly (origin + direction has no rounding) at points inside, on faces and at corners of boxes at all
/// scales: in exact arithmetic each meets its box at or before t = 1.
TEST(SlabTest, NeverMissesWhatIsHit) {
  Random random(3);
  for (int round = 0; round < 200000; ++round) {
    const float scale = std::exp2(std::round(60 * random.unit()));
    std::array<float, 3> origin{}, direction{}, at{};
    bvh::Box box;
    const float far = std::exp2(8 * random.unit());
    for (unsigned axis = 0; axis < 3; ++axis) {
      // Multiples of 2^-10 and a power of two: origin + direction is exact.
      origin[axis] = scale * std::round(far * 1024 * random.unit()) / 1024;
      direction[axis] = random.one_in(4) ? 0.0F : scale * std::round(1024 * random.unit()) / 1024;
      at[axis] = origin[axis] + direction[axis];
      const float below = random.one_in(3) ? 0.0F : scale * (1 + random.unit());
      const float above = random.one_in(3) ? 0.0F : scale * (1 + random.unit());
      box.low[axis] = at[axis] - below;
      box.high[axis] = at[axis] + above;
    }
    if (direction == std::array<float, 3>{0, 0, 0}) {
      continue;
    }
    const bvh::BoxEntry entry = meet(box, origin, direction, 0, 1);
    ASSERT_TRUE(entry.met) << "round " << round;
    ASSERT_LE(entry.entry, 1.0F) << "round " << round;
    // What contains the box is met no later.
    bvh::Box larger = box;
    const std::uint32_t axis = random.below(3);
    larger.low[axis] -= scale * std::abs(random.unit());
    larger.high[random.below(3)] += scale * std::abs(random.unit());
    const bvh::BoxEntry around = meet(larger, origin, direction, 0, 1);
    ASSERT_TRUE(around.met);
    ASSERT_LE(around.entry, entry.entry);
  }
}

TEST(SlabTest, ExtremeDirections) {
  for (const float size : {1e-38F, 1e-44F, 1e38F}) {
    EXPECT_TRUE(meet(kUnit, {0.5F, 0.5F, 0.5F}, {size, size, size}).met) << size;
    EXPECT_TRUE(meet(kUnit, {0.5F, 0.5F, -1e-10F}, {0, 0, size}).met) << size;
    EXPECT_FALSE(meet(kUnit, {0.5F, 2, 0.5F}, {0, size, 0}).met) << size;
  }
  EXPECT_TRUE(meet({{-3e38F, -3e38F, -3e38F}, {3e38F, 3e38F, 3e38F}}, {3e38F, 0, 0}, {-1, 0, 0}).met);
}

TEST(TriangleTest, DistanceWeightsAndFacing) {
  const std::array<float, 9> v{0, 0, 0, 1, 0, 0, 0, 1, 0};
  const auto from = [&](float z, float dz) {
    return intersect_triangle(space_of({0.25F, 0.5F, z}, {0, 0, dz}).precise, &v[0], &v[3], &v[6]);
  };
  const TrianglePoint front = from(2, -1);
  EXPECT_TRUE(front.pierced);
  EXPECT_TRUE(front.front) << "counterclockwise as seen from +z";
  EXPECT_EQ(front.t, 2);
  EXPECT_EQ(front.u, 0.25);
  EXPECT_EQ(front.v, 0.5);
  const TrianglePoint back = from(-3, 2);
  EXPECT_TRUE(back.pierced);
  EXPECT_FALSE(back.front);
  EXPECT_EQ(back.t, 1.5);
  EXPECT_EQ(from(2, 1).t, -2) << "the test itself knows no interval";
}

TEST(TriangleTest, NoAreaAndInPlaneAreNotHit) {
  const std::array<float, 9> line{0, 0, 0, 1, 1, 1, 2, 2, 2};
  EXPECT_FALSE(intersect_triangle(space_of({0, 0, 1}, {1, 1, 0}).precise, &line[0], &line[3], &line[6]).pierced);
  const std::array<float, 9> flat{0, 0, 0, 1, 0, 0, 0, 1, 0};
  EXPECT_FALSE(intersect_triangle(space_of({-1, 0.2F, 0}, {1, 0, 0}).precise, &flat[0], &flat[3], &flat[6]).pierced);
}

TEST(TriangleTest, ScaleDoesNotMatter) {
  for (const float scale : {1e-30F, 1e-12F, 1.0F, 1e12F, 1e30F}) {
    const std::array<float, 9> v{0, 0, 0, scale, 0, 0, 0, scale, 0};
    for (const float speed : {1e-38F, 1.0F, 1e38F}) {
      const auto space = space_of({0.25F * scale, 0.25F * scale, scale}, {0, 0, -speed});
      const TrianglePoint point = intersect_triangle(space.precise, &v[0], &v[3], &v[6]);
      ASSERT_TRUE(point.pierced) << scale << " " << speed;
      EXPECT_NEAR(point.t / (static_cast<double>(scale) / static_cast<double>(speed)), 1, 1e-12);
    }
  }
}

/// A fan of triangles around a point, closed: whatever goes through its inside, or through any of its edges and its
/// middle, hits at least one.
TEST(TriangleTest, NoGapsAlongSharedEdges) {
  Random random(5);
  for (int round = 0; round < 3000; ++round) {
    const float scale = std::exp2(40 * random.unit());
    constexpr std::size_t kSpokes = 7;
    std::vector<float> points{0, 0, scale * random.unit()};
    for (std::size_t i = 0; i < kSpokes; ++i) {
      const double angle = (static_cast<double>(i) + 0.3 * static_cast<double>(random.unit())) * 6.283185307179586 / 7;
      points.insert(points.end(), {scale * static_cast<float>(std::cos(angle)),
                                   scale * static_cast<float>(std::sin(angle)), scale * random.unit()});
    }
    for (int shot = 0; shot < 30; ++shot) {
      const std::size_t spoke = 1 + random.below(kSpokes);
      const float share = random.one_in(4) ? 0.0F : 0.9F * std::abs(random.unit());
      std::array<float, 3> origin{}, direction{};
      for (unsigned axis = 0; axis < 3; ++axis) {
        origin[axis] = axis == 2 ? 50 * scale : 5 * scale * random.unit();
        const float target = points[axis] + share * (points[spoke * 3 + axis] - points[axis]);
        direction[axis] = target - origin[axis];
      }
      const PreciseRay ray = space_of(origin, direction).precise;
      std::size_t pierced = 0;
      for (std::size_t i = 0; i < kSpokes; ++i) {
        const float* b = &points[(1 + i) * 3];
        const float* c = &points[(1 + (i + 1) % kSpokes) * 3];
        pierced += intersect_triangle(ray, points.data(), b, c).pierced ? 1U : 0U;
      }
      ASSERT_GE(pierced, 1U) << "round " << round << " shot " << shot;
    }
  }
}

TEST(Instances, NoGapsAfterTransforms) {
  // A closed mesh, seen from inside through instances of all kinds: no ray gets out.
  trace::Geometry cube;
  for (unsigned corner = 0; corner < 8; ++corner) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      cube.vertices.push_back((corner >> axis & 1U) != 0 ? 1.0F : -1.0F);
    }
  }
  cube.indices = {0, 1, 3, 0, 3, 2, 4, 7, 5, 4, 6, 7, 0, 4, 5, 0, 5, 1,
                  2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3};
  Random random(8);
  for (int round = 0; round < 60; ++round) {
    trace::Scene scene = test::one_mesh(cube);
    scene.instances[0].transform = test::random_transform(random);
    const auto& m = scene.instances[0].transform;
    std::vector<Ray> rays;
    for (int i = 0; i < 300; ++i) {
      Ray ray;
      std::array<float, 3> target{};
      for (float& x : target) {
        x = static_cast<float>(random.below(3)) - 1;  // corners, edges, diagonals
      }
      for (std::size_t row = 0; row < 3; ++row) {
        const float* r = &m[row * 4];
        ray.origin[row] = r[3];
        ray.direction[row] = r[0] * target[0] + r[1] * target[1] + r[2] * target[2];
      }
      if (target != std::array<float, 3>{0, 0, 0}) {
        rays.push_back(ray);
      }
    }
    const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test");
    const TraceResult result = Traversals::create("near-first").model->trace(bvh, rays);
    for (std::size_t i = 0; i < rays.size(); ++i) {
      ASSERT_TRUE(result.hits[i].found()) << "round " << round << " ray " << i;
      ASSERT_NEAR(result.hits[i].t, 1, 1e-4) << "round " << round << " ray " << i;
    }
  }
}

}  // namespace
}  // namespace rayreplay::traversal
