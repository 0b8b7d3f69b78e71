// A ray in the space of its tests, and the slab test: bvh/geometry/box_ray.hpp and traversal/kernels/ray_space.hpp in
// GLSL, operation by operation.
#include "kernels/traversal/numbers.glsl"

struct PreciseRay {
  dvec3 origin;
  dvec3 direction;
};

struct BoxRay {
  vec3 origin_near, origin_far, inverse_near, inverse_far;
  bvec3 negative;
  float t_min;
};

struct BoxEntry {
  bool met;
  float entry;
};

void box_ray_axis(double o, double d, out float origin_near, out float origin_far, out float inverse_near,
                  out float inverse_far, out bool negative) {
  const double kLargest = double(kFarthest);
  const double kSmallestNormal = double(uintBitsToFloat(0x00800000u));
  const double kFarOrigin = double(uintBitsToFloat((103u + 127u) << 23));
  negative = (uint(bits_of(d) >> 63)) != 0u;
  origin_near = 0.0;
  origin_far = 0.0;
  if (!(abs(o) < kFarOrigin)) {
    inverse_near = kNan;
    inverse_far = kNan;
    return;
  }
  const float below = round_down(o);
  const float above = round_up(o);
  origin_near = negative ? below : above;
  origin_far = negative ? above : below;
  if ((bits_of(d) << 1) == 0ul) {
    inverse_near = negative ? -kInfinity : kInfinity;
    inverse_far = inverse_near;
    return;
  }
  const double inverse = divided(1.0LF, d);
  precise double scaled = inverse * (1.0LF - 4.76837158203125e-07LF);  // 2^-21
  const double lesser = scaled < -kLargest ? -kLargest : kLargest < scaled ? kLargest : scaled;
  precise double greater = inverse * (1.0LF + 4.76837158203125e-07LF);
  inverse_near = float(lesser);
  inverse_far = float(greater);
  if (abs(lesser) < kSmallestNormal) {
    inverse_near = negative ? round_up(lesser) : round_down(lesser);
    inverse_far = negative ? round_down(greater) : round_up(greater);
  }
}

BoxRay make_box_ray(const PreciseRay ray, float t_min) {
  BoxRay result;
  result.t_min = t_min;
  [[dont_unroll]] for (int axis = 0; axis < 3; ++axis) {
    float origin_near, origin_far, inverse_near, inverse_far;
    bool negative;
    box_ray_axis(ray.origin[axis], ray.direction[axis], origin_near, origin_far, inverse_near, inverse_far, negative);
    result.origin_near[axis] = origin_near;
    result.origin_far[axis] = origin_far;
    result.inverse_near[axis] = inverse_near;
    result.inverse_far[axis] = inverse_far;
    result.negative[axis] = negative;
  }
  return result;
}

// bvh::meet, with the same order of operands: for entries that become a hit's t.
BoxEntry meet(const vec3 low, const vec3 high, const BoxRay ray, float t_max) {
  float near = ray.t_min;
  float far = t_max;
  for (int axis = 0; axis < 3; ++axis) {
    precise float to_near = (ray.negative[axis] ? high[axis] : low[axis]) - ray.origin_near[axis];
    precise float to_far = (ray.negative[axis] ? low[axis] : high[axis]) - ray.origin_far[axis];
    precise float enter = to_near * ray.inverse_near[axis];
    precise float leave = to_far * ray.inverse_far[axis];
    if (ray.t_min < 0.0) {
      precise float behind = to_near * ray.inverse_far[axis];
      precise float ahead = to_far * ray.inverse_near[axis];
      enter = std_min(enter, behind);
      leave = std_max(leave, ahead);
    }
    near = std_max(near, enter);
    far = std_min(far, leave);
  }
  return BoxEntry(near <= far, near);
}

// The same for boxes of nodes, whose entries are only compared: the sign of a zero may differ. `near` and `far` are the
// planes through which the ray enters and leaves. kBackward: t_min may be below 0.
void meet_planes(const vec3 planes_near, const vec3 planes_far, const BoxRay ray, inout float near, inout float far) {
  precise vec3 to_near = planes_near - ray.origin_near;
  precise vec3 to_far = planes_far - ray.origin_far;
  precise vec3 enter = to_near * ray.inverse_near;
  precise vec3 leave = to_far * ray.inverse_far;
  if (kBackward != 0u) {
    precise vec3 behind = to_near * ray.inverse_far;
    precise vec3 ahead = to_far * ray.inverse_near;
    const bool backward = ray.t_min < 0.0;
    enter = mix(enter, behind, backward ? lessThan(behind, enter) : bvec3(false));
    leave = mix(leave, ahead, backward ? lessThan(leave, ahead) : bvec3(false));
  }
  near = n_max(n_max(n_max(near, enter.x), enter.y), enter.z);
  far = n_min(n_min(n_min(far, leave.x), leave.y), leave.z);
}
