// Is a box that the ray meets in exact arithmetic always met, no later, and is little else met?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tests/support/random_trace.hpp"
#include "traversal/classification/box_entry.hpp"

namespace rayreplay::test {
namespace {

using traversal::enter;
using traversal::Ray;
using traversal::slab_ray;

constexpr double kUnit = 8 * 0x1p-24;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Exact {
  bool met = false;
  long double entry = 0;
};

/// The slab test as it is written on paper.
Exact exactly(const bvh::Box& box, const Ray& ray) {
  long double from = ray.t_min;
  long double to = ray.t_max;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const long double low = static_cast<long double>(box.low[axis]) - static_cast<long double>(ray.origin[axis]);
    const long double high = static_cast<long double>(box.high[axis]) - static_cast<long double>(ray.origin[axis]);
    const long double d = ray.direction[axis];
    if (d == 0) {
      if (low > 0 || high < 0) {
        return {};
      }
      continue;
    }
    from = std::max(from, std::min(low / d, high / d));
    to = std::min(to, std::max(low / d, high / d));
  }
  return {from <= to, from};
}

Ray make_ray(std::array<float, 3> origin, std::array<float, 3> direction, float t_min = 0, float t_max = kInfinity) {
  Ray ray;
  ray.origin = origin;
  ray.direction = direction;
  ray.t_min = t_min;
  ray.t_max = t_max;
  return ray;
}

bool meets(const bvh::Box& box, const Ray& ray, double unit = kUnit) {
  return enter(box, slab_ray(ray), static_cast<double>(ray.t_min), static_cast<double>(ray.t_max), unit).met;
}

TEST(BoxEntry, NeverMissesNorEntersLaterThanExactArithmetic) {
  Random random(1);
  int met = 0;
  int farther = 0;
  for (int i = 0; i < 200'000; ++i) {
    const float scale = std::ldexp(1.0F, static_cast<int>(random.below(40)) - 20);
    bvh::Box box;
    std::array<float, 3> origin{};
    std::array<float, 3> direction{};
    for (unsigned axis = 0; axis < 3; ++axis) {
      const float a = random.unit() * scale;
      const float b = random.one_in(6) ? a : random.unit() * scale;
      box.low[axis] = std::min(a, b);
      box.high[axis] = std::max(a, b);
      // Often in a plane of the box.
      origin[axis] = random.one_in(5) ? (random.one_in(2) ? a : b) : 2 * random.unit() * scale;
      direction[axis] = random.one_in(4) ? 0 : random.unit();
    }
    if (direction == std::array<float, 3>{}) {
      direction[random.below(3)] = 1;
    }
    const Ray ray = make_ray(origin, direction, random.one_in(3) ? 0.001F * scale : 0,
                             random.one_in(3) ? scale * (1 + random.unit()) + 0.01F * scale : kInfinity);
    const Exact exact = exactly(box, ray);
    const auto found = enter(box, slab_ray(ray), static_cast<double>(ray.t_min), static_cast<double>(ray.t_max), kUnit);
    if (exact.met) {
      ++met;
      ASSERT_TRUE(found.met) << i;
      ASSERT_LE(static_cast<long double>(found.entry), exact.entry) << i;
    } else if (found.met) {
      // Only what touches a box that is larger by a few units may be met.
      bvh::Box larger = box;
      for (unsigned axis = 0; axis < 3; ++axis) {
        larger.low[axis] -= 1e-4F * scale;
        larger.high[axis] += 1e-4F * scale;
      }
      Ray longer = ray;
      longer.t_min -= 1e-4F * scale;
      longer.t_max += 1e-4F * scale;
      ASSERT_TRUE(exactly(larger, longer).met) << i;
      ++farther;
    }
  }
  EXPECT_GT(met, 5'000);
  EXPECT_LT(farther, 2'000);
}

TEST(BoxEntry, TouchingIsMeeting) {
  const bvh::Box box{{0, 0, 0}, {1, 1, 1}};
  const bvh::Box point{{2, 2, 2}, {2, 2, 2}};
  const bvh::Box flat{{0, 0, 5}, {1, 1, 5}};
  // In a face's plane, along an edge, through a corner; parallel to an axis in all of them.
  EXPECT_TRUE(meets(box, make_ray({-1, 1, 0.5F}, {1, 0, 0})));
  EXPECT_TRUE(meets(box, make_ray({-1, 1, 1}, {1, 0, 0})));
  EXPECT_TRUE(meets(box, make_ray({-1, 0, 1}, {1, 1, 0})));
  EXPECT_TRUE(meets(point, make_ray({0, 0, 0}, {1, 1, 1})));
  EXPECT_TRUE(meets(point, make_ray({2, 2, -7}, {0, 0, 1})));
  EXPECT_TRUE(meets(flat, make_ray({0.5F, 0.5F, 0}, {0, 0, 1})));
  EXPECT_TRUE(meets(flat, make_ray({-3, 0.5F, 5}, {1, 0, 0})));
  // From inside, from a face.
  EXPECT_TRUE(meets(box, make_ray({0.5F, 0.5F, 0.5F}, {0, -1, 0})));
  EXPECT_TRUE(meets(box, make_ray({1, 0.5F, 0.5F}, {1, 0, 0})));
  // Ends at the box, starts where it ends.
  EXPECT_TRUE(meets(box, make_ray({-1, 0.5F, 0.5F}, {1, 0, 0}, 0, 1)));
  EXPECT_TRUE(meets(box, make_ray({-1, 0.5F, 0.5F}, {1, 0, 0}, 2, 9)));
}

TEST(BoxEntry, MissesWhatIsMissed) {
  const bvh::Box box{{0, 0, 0}, {1, 1, 1}};
  EXPECT_FALSE(meets(box, make_ray({-1, 1.0001F, 0.5F}, {1, 0, 0})));
  EXPECT_FALSE(meets(box, make_ray({-1, 0.5F, 0.5F}, {-1, 0, 0})));
  EXPECT_FALSE(meets(box, make_ray({-1, 0.5F, 0.5F}, {1, 0, 0}, 0, 0.999F)));
  EXPECT_FALSE(meets(box, make_ray({-1, 0.5F, 0.5F}, {1, 0, 0}, 2.001F, 9)));
  EXPECT_FALSE(meets(bvh::Box{}, make_ray({0, 0, 0}, {1, 0, 0})));
  // One float beside the face: within the slack of 8 units, not without it.
  const float beside = std::nextafter(1.0F, 2.0F);
  EXPECT_TRUE(meets(box, make_ray({-1, beside, 0.5F}, {1, 0, 0})));
  EXPECT_FALSE(meets(box, make_ray({-1, beside, 0.5F}, {1, 0, 0}), 0x1p-48));
}

TEST(BoxEntry, InstanceSpaceGivesTheSameDistance) {
  // Scaled by 2 along x, moved by (10, 0, 0): object x = (world x − 10) / 2.
  Transformd to_object;
  to_object << 0.5, 0, 0, -5, 0, 1, 0, 0, 0, 0, 1, 0;
  const bvh::Box box{{0, 0, 0}, {1, 1, 1}};
  const auto found = enter(box, slab_ray(make_ray({0, 0.5F, 0.5F}, {1, 0, 0}), to_object), 0, 100, kUnit);
  ASSERT_TRUE(found.met);
  EXPECT_NEAR(found.entry, 10, 1e-4);
  EXPECT_LE(found.entry, 10);
}

}  // namespace
}  // namespace rayreplay::test
