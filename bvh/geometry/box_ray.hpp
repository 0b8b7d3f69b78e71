// A ray prepared for slab tests against boxes of floats, and the slab test of all layouts.
//
// Contract: the test never misses a box that the ray meets in exact arithmetic within [t_min, t_max], and `entry` is at
// most the distance of that point (and at least t_min). A touched face, edge or corner counts as met, also for rays
// parallel to an axis and boxes of zero extent. The test itself needs no extra operation for that, because
// `make_box_ray` rounds the ray outward once. An origin that no float represents (those of instance space are doubles)
// becomes the two neighbouring floats. The inverse direction becomes a smaller one for entering and a larger one for
// leaving, by 2^-21 each: that covers the four roundings of inverse and test and the one of a hit's distance to float
// (Ize, "Robust BVH Ray Traversal", JCGT 2013, enlarges only the far distance). If a box is met, any larger box around
// it is met, at an entry that is not later: every operation is monotone, so this holds bit for bit. IEEE operations
// without fusing: scalar and SIMD forms give the same bits.
//
// This holds for all finite rays. On an axis with an origin so far out (kFarOrigin) that a plane minus the origin could
// exceed the range of floats, boxes do not bound the ray: its inverses are NaNs. An inverse below the smallest normal
// float is rounded outward to a denormal one.
//
// An axis along which the ray does not move has the inverse ±infinity. 0 · infinity, for an origin in the face's plane,
// is a NaN. The operands of minimum and maximum are ordered such that a NaN does not bound: the plane counts as
// touched. `t_max` must be finite (at most kFarthest), so that a box entered at infinity (beside the path of a parallel
// ray, or an unused slot) is not met. t_min may have any value, including negative ones and −infinity.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "bvh/geometry/box.hpp"

namespace rayreplay::bvh {

inline constexpr float kFarthest = std::numeric_limits<float>::max();
/// Half of the step below kFarthest: with a nearer origin, the difference to any float is finite.
inline constexpr double kFarOrigin = 0x1p103;

struct BoxRay {
  std::array<float, 3> origin_near{};   ///< rounded in the ray's direction, if no float equals the origin
  std::array<float, 3> origin_far{};    ///< rounded the other way
  std::array<float, 3> inverse_near{};  ///< 1 / direction, rounded towards 0
  std::array<float, 3> inverse_far{};   ///< rounded away from 0
  std::array<bool, 3> negative{};       ///< the ray enters through the high plane
  float t_min = 0;
};

/// The entry distance, if `met`.
struct BoxEntry {
  bool met = false;
  float entry = 0;
};

// Inlined always: calls cost a traversal a fifth of its instructions.
[[nodiscard]] [[gnu::always_inline]] inline BoxEntry meet(const Box& box, const BoxRay& ray, float t_max) {
  float near = ray.t_min;
  float far = t_max;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const float to_near = (ray.negative[axis] ? box.high[axis] : box.low[axis]) - ray.origin_near[axis];
    const float to_far = (ray.negative[axis] ? box.low[axis] : box.high[axis]) - ray.origin_far[axis];
    float enter = to_near * ray.inverse_near[axis];
    float leave = to_far * ray.inverse_far[axis];
    if (ray.t_min < 0) {  // behind the origin, outward is the opposite direction
      enter = std::min(enter, to_near * ray.inverse_far[axis]);
      leave = std::max(leave, to_far * ray.inverse_near[axis]);
    }
    near = std::max(near, enter);
    far = std::min(far, leave);
  }
  return {near <= far, near};
}

namespace detail {

[[nodiscard]] inline float round_down(double x) {
  const auto near = static_cast<float>(x);
  return static_cast<double>(near) > x ? std::nextafter(near, -std::numeric_limits<float>::infinity()) : near;
}

[[nodiscard]] inline float round_up(double x) {
  return -round_down(-x);
}

}  // namespace detail

/// Origin and direction must be finite, the direction not zero.
[[nodiscard]] inline BoxRay make_box_ray(const std::array<double, 3>& origin, const std::array<double, 3>& direction,
                                         float t_min) {
  constexpr double kSlack = 0x1p-21;
  constexpr auto kLargest = static_cast<double>(kFarthest);
  constexpr auto kSmallestNormal = static_cast<double>(std::numeric_limits<float>::min());
  BoxRay ray;
  ray.t_min = t_min;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const double o = origin[axis];
    const double d = direction[axis];
    const bool negative = std::signbit(d);
    ray.negative[axis] = negative;
    if (!(std::abs(o) < kFarOrigin)) {
      ray.inverse_near[axis] = ray.inverse_far[axis] = std::numeric_limits<float>::quiet_NaN();
      continue;
    }
    ray.origin_near[axis] = negative ? detail::round_down(o) : detail::round_up(o);
    ray.origin_far[axis] = negative ? detail::round_up(o) : detail::round_down(o);
    const double inverse = 1 / d;
    // The inverse of a denormal is no float; that of zero is infinite on both sides.
    const double lesser = d == 0 ? inverse : std::clamp(inverse * (1 - kSlack), -kLargest, kLargest);
    const double greater = inverse * (1 + kSlack);
    ray.inverse_near[axis] = static_cast<float>(lesser);
    ray.inverse_far[axis] = static_cast<float>(greater);
    if (std::abs(lesser) < kSmallestNormal) {  // the slack is less than a denormal's own rounding
      ray.inverse_near[axis] = negative ? detail::round_up(lesser) : detail::round_down(lesser);
      ray.inverse_far[axis] = negative ? detail::round_down(greater) : detail::round_up(greater);
    }
  }
  return ray;
}

}  // namespace rayreplay::bvh
