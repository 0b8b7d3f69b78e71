// A ray prepared for slab tests against boxes of floats, and the slab test that every layout uses.
//
// Contract: the test never misses a box that the ray meets in exact arithmetic within [t_min, t_max]; touching a face,
// an edge or a corner is meeting, also for rays parallel to an axis and boxes of no extent. The far distance is
// enlarged by two rounding bounds (Ize, "Robust BVH Ray Traversal", JCGT 2013), and `pad` allows for the error of an
// origin that was itself computed (instance space) or that lies far from the scene. IEEE operations alone, no fused
// ones: scalar and SIMD forms give the same bits. An axis along which the ray does not move has inverse ±kHuge instead
// of infinity, so that 0 · inverse is 0 and no NaN can arise. `entry` is never below t_min.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "bvh/box.hpp"

namespace rayreplay::bvh {

struct BoxRay {
  static constexpr float kHuge = 0x1p126F;
  static constexpr float kGrow = 1.0F + 4 * 0x1p-23F;  ///< ≥ 1 + 2·γ(3) of Ize 2013

  std::array<float, 3> origin{};
  std::array<float, 3> inverse{};  ///< 1 / direction
  std::array<float, 3> pad{};      ///< in t: how much each slab is widened on either side
  std::array<bool, 3> negative{};  ///< the ray enters through the high plane
  float t_min = 0;
};

/// Where the ray enters the box, if `met`.
struct BoxEntry {
  bool met = false;
  float entry = 0;
};

[[nodiscard]] inline BoxEntry meet(const Box& box, const BoxRay& ray, float t_max) {
  float near = ray.t_min;
  float far = t_max;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const float low = box.low[axis] - ray.origin[axis];
    const float high = box.high[axis] - ray.origin[axis];
    const float enter = (ray.negative[axis] ? high : low) * ray.inverse[axis] - ray.pad[axis];
    const float leave = (ray.negative[axis] ? low : high) * ray.inverse[axis] + ray.pad[axis];
    near = std::max(near, enter);
    far = std::min(far, leave * BoxRay::kGrow);
  }
  return {near <= far, near};
}

}  // namespace rayreplay::bvh
