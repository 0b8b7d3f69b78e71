// Do the SIMD kernels give the same bits as the code that anyone can follow: hits, counters, accesses and tests?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "bvh/bvh.hpp"
#include "tests/support/meshes.hpp"
#include "tests/support/ray_scenes.hpp"
#include "traversal/kernels/avx2.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::traversal {
namespace {

void expect_equal(const TraceResult& one, const TraceResult& other, const std::string& what) {
  EXPECT_EQ(one.hits, other.hits) << what;
  EXPECT_EQ(one.counters, other.counters) << what;
  EXPECT_EQ(one.accesses, other.accesses) << what;
  EXPECT_EQ(one.tests.offset, other.tests.offset) << what;
  EXPECT_EQ(one.tests.rows, other.tests.rows) << what;
  EXPECT_EQ(one.ignored_rays, other.ignored_rays) << what;
}

/// Without options, each option alone, and all of them.
void compare_kernels(const bvh::Bvh& bvh, const std::vector<Ray>& rays, const Shaders* shaders,
                     const std::string& what) {
  const auto fast = Traversals::create("near-first").model;
  const auto slow = Traversals::create("near-first:kernel=decode").model;
  for (const TraceOptions& options :
       {TraceOptions{.counters = false, .shaders = shaders}, TraceOptions{.shaders = shaders},
        TraceOptions{.counters = false, .accesses = true, .shaders = shaders},
        TraceOptions{.counters = false, .tests = true, .shaders = shaders},
        TraceOptions{.accesses = true, .tests = true, .shaders = shaders}}) {
    expect_equal(fast->trace(bvh, rays, options), slow->trace(bvh, rays, options), what);
  }
}

TEST(Kernels, NearFirstOnRandomScenes) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const trace::Scene scene = test::random_scene({.seed = seed, .flags = seed % 2 == 0});
    for (const char* builder : {"medium", "high", "medium:leaf_size=8,intersection_cost=0.1", "median:leaf_size=13"}) {
      const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.builder = builder});
      std::vector<Ray> rays = test::random_rays(seed, 300, seed % 3 != 0);
      rays[7].direction = {0, 0, 0};
      rays[11].origin[1] = std::numeric_limits<float>::quiet_NaN();
      rays[13].t_min = std::numeric_limits<float>::infinity();
      rays[13].t_max = std::numeric_limits<float>::infinity();
      rays[17].t_min = -std::numeric_limits<float>::infinity();
      const test::SphereShaders shaders(bvh.scene, rays);
      compare_kernels(bvh, rays, &shaders, std::string(builder) + " seed " + std::to_string(seed));
    }
  }
}

TEST(Kernels, NearFirstOnATerrain) {
  const trace::Scene scene = test::one_mesh(test::bumpy_terrain(20000, 3));
  const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.builder = "medium:leaf_size=8,intersection_cost=0.25"});
  std::vector<Ray> rays = test::random_rays(5, 4000, false);
  for (Ray& ray : rays) {
    ray.origin = {0.5F + 0.1F * ray.origin[0], 1, 0.5F + 0.1F * ray.origin[2]};
    ray.direction[1] = -1;
  }
  compare_kernels(bvh, rays, nullptr, "terrain");
}

#if RAYREPLAY_AVX2

struct alignas(64) FilledNode {
  bvh::Wide8Node node;
};

RAYREPLAY_TARGET_AVX2 std::uint32_t meet_wide(const bvh::Wide8Node& node, const bvh::BoxRay& ray, float t_max,
                                              std::array<float, 8>& entries, std::uint32_t& used) {
  avx2::WideRay wide;
  alignas(32) std::array<float, 8> entry;
  avx2::widen(ray, wide);
  const std::uint32_t mask = avx2::meet(node, wide, t_max, entry.data(), used);
  entries = entry;
  return mask;
}

RAYREPLAY_TARGET_AVX2 std::uint32_t pierce_four(const PreciseRay& ray, const float* vertices, std::size_t count,
                                                avx2::FourTriangles& four) {
  return avx2::pierce(ray, vertices, count, count, four);
}

RAYREPLAY_TARGET_AVX2 std::uint32_t may_pierce_eight(const PreciseRay& ray, const float* vertices, std::size_t count) {
  return avx2::may_pierce(avx2::shear(ray), vertices, count, count);
}

/// A number as likely to be zero, an integer, tiny, huge or denormal as ordinary.
float odd_float(test::Random& random) {
  switch (random.below(7)) {
    case 0:
      return random.one_in(2) ? 0.0F : -0.0F;
    case 1:
      return static_cast<float>(random.below(5)) - 2;
    case 2:
      return random.unit() * 0x1p-140F;
    case 3:
      return random.unit() * 0x1p126F;
    default:
      return random.unit();
  }
}

/// Tests of single AVX2 functions, one for each processor's form that has them. A processor without AVX2 has no such
/// tests; those named Kernels run everywhere and compare the form that is used there.
class WideKernels : public testing::TestWithParam<std::string> {};

std::vector<std::string> wide_forms() {
  return has_avx2() ? std::vector<std::string>{"avx2"} : std::vector<std::string>{};
}

INSTANTIATE_TEST_SUITE_P(Forms, WideKernels, testing::ValuesIn(wide_forms()),
                         [](const auto& form) { return form.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WideKernels);

RAYREPLAY_TARGET_AVX2 bvh::BoxRay box_ray_of(const Ray& ray) {
  RaySpace space;
  avx2::world_space(ray, space);
  return space.box;
}

TEST_P(WideKernels, RayInWorldSpace) {
  test::Random random(4);
  for (int round = 0; round < 20000; ++round) {
    Ray ray;
    ray.t_min = random.unit();
    for (unsigned axis = 0; axis < 3; ++axis) {
      ray.origin[axis] = odd_float(random);
      ray.direction[axis] = odd_float(random);
    }
    const bvh::BoxRay got = box_ray_of(ray);
    const bvh::BoxRay want = world_space(ray).box;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
      // The sign of an origin of zero means nothing.
      ASSERT_EQ(got.origin_near[axis], want.origin_near[axis]) << round;
      ASSERT_EQ(got.origin_far[axis], want.origin_far[axis]) << round;
      ASSERT_EQ(bits(got.inverse_near[axis]), bits(want.inverse_near[axis])) << round;
      ASSERT_EQ(bits(got.inverse_far[axis]), bits(want.inverse_far[axis])) << round;
      ASSERT_EQ(got.negative[axis], want.negative[axis]) << round;
    }
    ASSERT_EQ(got.t_min, want.t_min);
  }
}

TEST_P(WideKernels, SlabTestOfEightBoxes) {
  test::Random random(1);
  std::size_t met = 0;
  for (int round = 0; round < 20000; ++round) {
    FilledNode filled{};
    const std::size_t used = 1 + random.below(8);
    std::array<bvh::Box, 8> boxes;
    for (std::size_t slot = 0; slot < 8; ++slot) {
      for (unsigned axis = 0; axis < 3; ++axis) {
        const float a = odd_float(random);
        const float b = random.one_in(5) ? a : odd_float(random);
        boxes[slot].low[axis] = std::min(a, b);
        boxes[slot].high[axis] = std::max(a, b);
        filled.node.low[axis][slot] = slot < used ? boxes[slot].low[axis] : std::numeric_limits<float>::infinity();
        filled.node.high[axis][slot] = slot < used ? boxes[slot].high[axis] : -std::numeric_limits<float>::infinity();
      }
      filled.node.index[slot] = slot < used ? static_cast<std::uint32_t>(slot) : bvh::kUnusedSlot;
    }
    std::array<double, 3> origin{}, direction{};
    for (unsigned axis = 0; axis < 3; ++axis) {
      origin[axis] = static_cast<double>(odd_float(random)) * (random.one_in(3) ? 1.0000000001 : 1.0);
      direction[axis] = static_cast<double>(odd_float(random)) * (random.one_in(3) ? 1.0000000001 : 1.0);
    }
    const float t_min = std::abs(odd_float(random));
    const float t_max = random.one_in(2) ? bvh::kFarthest : t_min + std::abs(random.unit());
    const bvh::BoxRay ray = bvh::make_box_ray(origin, direction, t_min);
    std::array<float, 8> entries{};
    std::uint32_t children = 0;
    const std::uint32_t mask = meet_wide(filled.node, ray, t_max, entries, children);
    ASSERT_EQ(children, used);
    for (std::size_t slot = 0; slot < 8; ++slot) {
      const bvh::BoxEntry entry = bvh::meet(boxes[slot], ray, t_max);
      const bool is_met = slot < used && entry.met;
      ASSERT_EQ((mask >> slot & 1U) != 0, is_met) << "round " << round << " slot " << slot;
      if (is_met) {
        ASSERT_EQ(std::memcmp(&entries[slot], &entry.entry, sizeof(float)), 0) << "round " << round;
        ++met;
      }
    }
  }
  EXPECT_GT(met, 2000U);
}

std::array<float, 9> triangle_of(const float* vertices, std::size_t count, std::size_t lane) {
  std::array<float, 9> corner{};
  for (std::size_t i = 0; i < 9; ++i) {
    corner[i] = vertices[i * count + lane];
  }
  return corner;
}

/// Rays through vertices, through edges and past them by a few units in the last place, near and far, and origins that
/// no float holds: what the double test finds pierced must never be left out, and most of the rest should be.
TEST_P(WideKernels, WhatMayBePiercedOfEight) {
  test::Random random(3);
  std::size_t pierced = 0;
  std::size_t missed = 0;
  std::size_t left_out = 0;
  for (int round = 0; round < 60000; ++round) {
    const float scale = random.one_in(3) ? std::ldexp(1.0F, static_cast<int>(random.below(200)) - 100) : 1.0F;
    const float extent = std::ldexp(1.0F, -static_cast<int>(random.below(24)));
    const bool odd = random.one_in(8);
    std::array<float, 80> vertices{};  // eight more may be read
    for (float& x : vertices) {
      x = odd ? odd_float(random) : scale * (0.5F + extent * random.unit());
    }
    const std::size_t count = 1 + random.below(8);
    const std::array<float, 9> aim = triangle_of(vertices.data(), count, random.below(count));
    const double weight = random.one_in(3) ? 0.0 : 0.5 + 0.5 * static_cast<double>(random.unit());
    PreciseRay ray;
    for (unsigned axis = 0; axis < 3; ++axis) {
      ray.origin[axis] = static_cast<double>(odd ? odd_float(random) : scale * random.unit()) *
                         (random.one_in(3) ? 1.0000000001 : 1.0);
      const double other = random.one_in(2) ? static_cast<double>(aim[6 + axis]) : 0.0;
      const double target = weight * static_cast<double>(aim[axis]) +
                            (1 - weight) * (0.5 * static_cast<double>(aim[3 + axis]) +
                                            0.5 * (other != 0.0 ? other : static_cast<double>(aim[3 + axis])));
      ray.direction[axis] = target - ray.origin[axis];
      if (random.one_in(4)) {
        ray.direction[axis] = static_cast<double>(static_cast<float>(ray.direction[axis]));
      }
    }
    const std::uint32_t mask = may_pierce_eight(ray, vertices.data(), count);
    ASSERT_EQ(mask >> count, 0U);
    for (std::size_t lane = 0; lane < count; ++lane) {
      const std::array<float, 9> corner = triangle_of(vertices.data(), count, lane);
      if (intersect_triangle(ray, corner.data(), &corner[3], &corner[6]).pierced) {
        ASSERT_NE(mask >> lane & 1U, 0U) << "round " << round << " lane " << lane;
        ++pierced;
      } else {
        ++missed;
        left_out += mask >> lane & 1U ? 0U : 1U;
      }
    }
  }
  EXPECT_GT(pierced, 10000U);
  EXPECT_GT(left_out, missed / 3);  // many are too small and far to tell
}

TEST_P(WideKernels, TriangleTestOfFour) {
  test::Random random(2);
  std::size_t pierced = 0;
  for (int round = 0; round < 40000; ++round) {
    std::array<float, 40> vertices{};  // coordinate by coordinate, and four more may be read
    for (float& x : vertices) {
      x = random.one_in(2) ? random.unit() : odd_float(random);
    }
    PreciseRay ray;
    for (unsigned axis = 0; axis < 3; ++axis) {
      ray.origin[axis] = static_cast<double>(odd_float(random));
      ray.direction[axis] = static_cast<double>(random.one_in(2) ? random.unit() : odd_float(random));
    }
    const std::size_t count = 1 + random.below(4);
    avx2::FourTriangles four;
    const std::uint32_t mask = pierce_four(ray, vertices.data(), count, four);
    ASSERT_EQ(mask >> count, 0U);
    for (std::size_t lane = 0; lane < count; ++lane) {
      const std::array<float, 9> corner = triangle_of(vertices.data(), count, lane);
      const TrianglePoint want = intersect_triangle(ray, corner.data(), &corner[3], &corner[6]);
      ASSERT_EQ((mask >> lane & 1U) != 0, want.pierced) << "round " << round;
      if (want.pierced) {
        const TrianglePoint point = four.point(lane, detail::dot(ray.direction, ray.direction));
        ASSERT_EQ(std::memcmp(&point.t, &want.t, sizeof(double)), 0);
        ASSERT_EQ(std::memcmp(&point.u, &want.u, sizeof(double)), 0);
        ASSERT_EQ(std::memcmp(&point.v, &want.v, sizeof(double)), 0);
        ASSERT_EQ(point.front, want.front);
        ++pierced;
      }
    }
  }
  EXPECT_GT(pierced, 2000U);
}

#endif

}  // namespace
}  // namespace rayreplay::traversal
