// Rays at the ends of their intervals and of the range of floats: no hit is lost there, in any kernel or layout.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bvh/bvh.hpp"
#include "bvh/geometry/box_ray.hpp"
#include "tests/support/adversarial.hpp"
#include "tests/support/random_trace.hpp"
#include "traversal/traversal.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::test {
namespace {

using traversal::Hit;
using traversal::Ray;
using traversal::Traversals;
using traversal::WarpTraversals;

const std::vector<std::string> kLayouts = {"wide-8", "binary", "compressed-wide-8", "quantised-6"};

/// The hits of the first kernel, which all others must repeat.
std::vector<Hit> hits_of_all(const trace::Scene& scene, const std::vector<Ray>& rays) {
  std::vector<Hit> expected;
  for (const std::string& layout : kLayouts) {
    const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "range", {.layout = layout});
    std::vector<std::string> specs = Traversals::names();
    specs.emplace_back("near-first:kernel=decode");
    for (const std::string& spec : specs) {
      const std::vector<Hit> hits = Traversals::create(spec).model->trace(bvh, rays).hits;
      expected = expected.empty() ? hits : expected;
      EXPECT_EQ(hits, expected) << spec << " over " << layout;
    }
    for (const std::string& spec : WarpTraversals::names()) {
      std::vector<std::uint64_t> warps;
      for (std::uint64_t ray = 0; ray < rays.size(); ray += 32) {
        warps.push_back(ray);
      }
      warps.push_back(rays.size());
      EXPECT_EQ(WarpTraversals::create(spec).model->trace(bvh, rays, warps).hits, expected)
          << spec << " over " << layout;
    }
  }
  return expected;
}

/// A triangle around (0, 0, z), `size` large.
trace::Scene triangle_at(float z, float size, float scale = 1) {
  SceneBuilder kit(1);
  const auto s = static_cast<double>(size);
  kit.loose({{-s, -s, z}, {s, -s, z}, {0, s, z}});
  kit.place(kit.structure(), {scale, 0, 0, 0, 0, scale, 0, 0, 0, 0, scale, 0});
  return kit.scene;
}

TEST(Range, RaysThatStartOnAFaceHitItThere) {
  const trace::Scene cube = adversarial::closed_mesh("cube", false, 1, {}).scene;
  Random random(5);
  std::vector<Ray> rays;
  for (int i = 0; i < 16'000; ++i) {
    Ray ray;
    for (unsigned axis = 0; axis < 3; ++axis) {
      ray.origin[axis] = random.unit();
      ray.direction[axis] = random.unit();
    }
    const std::size_t face = random.below(3);
    ray.origin[face] = random.one_in(2) ? 1.0F : -1.0F;
    ray.direction[face] = std::abs(ray.direction[face]) + 0.01F;
    rays.push_back(ray);
  }
  const std::vector<Hit> hits = hits_of_all(cube, rays);
  for (const Hit& hit : hits) {
    ASSERT_TRUE(hit.found());
    ASSERT_GE(hit.t, 0);
    ASSERT_LE(hit.t, 1e-14F) << "a rounding of doubles at most";
  }
}

TEST(Range, WhatLiesBeforeTheIntervalIsNoHit) {
  // A slanted triangle whose box contains the origin.
  SceneBuilder kit(1);
  kit.loose({{-1, -1, -1}, {1, -1, -0.5}, {0, 1, 0.4}});
  kit.place(kit.structure());
  std::vector<Ray> rays(3);
  for (Ray& ray : rays) {
    ray.direction = {0, 0, 1};
  }
  rays[1].t_min = -2;
  rays[2].origin = {0, 0, -0.6F};
  const std::vector<Hit> hits = hits_of_all(kit.scene, rays);
  EXPECT_FALSE(hits[0].found());
  EXPECT_TRUE(hits[1].found());
  EXPECT_LT(hits[1].t, 0);
  EXPECT_TRUE(hits[2].found());
}

TEST(Range, PlanesBeyondTheRangeOfFloatsFromTheOrigin) {
  Ray ray{.origin = {0, 0, -3e38F}, .direction = {0, 0, 1e38F}};
  Ray back{.origin = {0, 0, 3.4e38F}, .direction = {0, 0, -1}};
  Ray beside{.origin = {3.3e38F, 0, -3e38F}, .direction = {0, 0, 1e38F}};
  Ray askew{.origin = {-3e38F, 3e38F, -3e38F}, .direction = {1e38F, -1e38F, 2e38F}};
  const std::vector<Hit> hits = hits_of_all(triangle_at(3e38F, 1e37F), {ray, back, beside, askew});
  ASSERT_TRUE(hits[0].found());
  EXPECT_FLOAT_EQ(hits[0].t, 6);
  ASSERT_TRUE(hits[1].found());
  EXPECT_FLOAT_EQ(hits[1].t, 4e37F);
  EXPECT_FALSE(hits[2].found());
  ASSERT_TRUE(hits[3].found());
  EXPECT_FLOAT_EQ(hits[3].t, 3);
}

TEST(Range, DirectionsWhoseInverseIsDenormal) {
  Random random(9);
  for (const float scale : {1.0F, 1e-10F, 1e-20F}) {
    std::vector<Ray> rays;
    for (int i = 0; i < 2000; ++i) {
      const float target = 0.2F * scale * random.unit();
      const float length = 3e38F * (0.6F + 0.3F * random.unit());
      Ray ray{.origin = {0, 0, -scale}, .direction = {target / scale * length, 0, length}};
      rays.push_back(ray);
    }
    for (const Hit& hit : hits_of_all(triangle_at(0, 1, scale), rays)) {
      ASSERT_TRUE(hit.found()) << scale;
      const double unit = static_cast<double>(scale) / 3e38;
      ASSERT_NEAR(static_cast<double>(hit.t), 2.2 * unit, 1.2 * unit + 1.5e-45) << scale;
    }
  }
}

TEST(Range, InstancesThatScaleTooMuchAreCountedAndNotMet) {
  for (const float scale : {2e-38F, 2e-39F}) {
    const trace::Scene scene = triangle_at(0, 1, scale);
    EXPECT_EQ(bvh::build_bvh(scene, 0, "range", {}).scene.ignored.instances_out_of_range, 1U);
    const Ray ray{.origin = {0, 0, -1}, .t_min = 1e-9F, .direction = {0, 0, 1e6F}};
    EXPECT_FALSE(hits_of_all(scene, {ray}).front().found());
  }
}

/// What the box test promises, against long double: boxes through which a point of the ray goes are met, not after it.
TEST(Range, BoxTestNeverMissesAtAnySize) {
  Random random(31);
  const auto power = [&](int low, int high) {
    return std::ldexp(1.0 + std::abs(static_cast<double>(random.unit())),
                      low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low))));
  };
  std::size_t checked = 0;
  for (int i = 0; i < 400'000; ++i) {
    const int size = static_cast<int>(random.below(278)) - 150;
    std::array<double, 3> origin{};
    std::array<double, 3> direction{};
    const double speed = power(-200, 200);
    const long double t = static_cast<long double>(power(size - 2, std::min(size + 4, 126))) / speed;
    bvh::Box box;
    bool inside = t < 3e38L;
    for (unsigned axis = 0; axis < 3; ++axis) {
      origin[axis] = random.one_in(5) ? 0 : static_cast<double>(random.unit()) * power(size, size + 2);
      direction[axis] = random.one_in(5) ? 0 : static_cast<double>(random.unit()) * speed;
      const long double at = static_cast<long double>(origin[axis]) + t * static_cast<long double>(direction[axis]);
      const long double most = bvh::kFarthest;
      inside = inside && at > -most && at < most;
      const auto near = static_cast<float>(inside ? at : 0);
      const float extent = random.one_in(2) ? 0 : std::abs(near) * std::abs(random.unit());
      box.low[axis] = bvh::detail::round_down(static_cast<double>(near)) - extent;
      box.high[axis] = near + extent;
      box.low[axis] =
          static_cast<long double>(box.low[axis]) > at ? std::nextafter(box.low[axis], -INFINITY) : box.low[axis];
      box.high[axis] =
          static_cast<long double>(box.high[axis]) < at ? std::nextafter(box.high[axis], INFINITY) : box.high[axis];
      inside = inside && std::isfinite(box.low[axis]) && std::isfinite(box.high[axis]);
    }
    if (!inside || direction == std::array<double, 3>{}) {
      continue;
    }
    ++checked;
    const bvh::BoxEntry entry =
        bvh::meet(box, bvh::make_box_ray(origin, direction, random.one_in(2) ? 0 : -bvh::kFarthest), bvh::kFarthest);
    ASSERT_TRUE(entry.met) << i;
    ASSERT_LE(entry.entry, static_cast<float>(t)) << i;
  }
  EXPECT_GT(checked, 100'000U);
}

}  // namespace
}  // namespace rayreplay::test
