// The box of all points of the launch, per workgroup. Invocations stride over the launch's threads.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/place.glsl"

shared double lows[3][kGroup];
shared double highs[3][kGroup];
shared uint hits;

void main() {
  const uint local = gl_LocalInvocationID.x;
  const double infinity = uint64BitsToDouble(kExactInfinity);
  for (uint axis = 0; axis < 3; ++axis) {
    lows[axis][local] = infinity;
    highs[axis][local] = -infinity;
  }
  if (local == 0) {
    hits = 0;
  }
  barrier();
  bool any_hit = false;
  for (uint64_t thread = THREAD_NUMBER; thread < push.threads; thread += push.stride * kGroup) {
    const uint first = word_at(push.first, uint(thread));
    const uint last = word_at(push.first, uint(thread) + 1);
    for (uint segment = first; segment < last; ++segment) {
      const uint row = uint(long_at(push.segment_offset, segment));
      const uint kind = byte_at(push.kind, row);
      if ((kind != kMiss && kind != kClosestHit) || is_direction(kind)) {
        continue;
      }
      const uint ray = ray_of(uint(thread), segment, row, uint(long_at(push.segment_offset, first)));
      const Point point = point_of(kind, row, ray);
      if (is_finite(point)) {
        for (uint axis = 0; axis < 3; ++axis) {
          lows[axis][local] = point.at[axis] < lows[axis][local] ? point.at[axis] : lows[axis][local];
          highs[axis][local] = point.at[axis] > highs[axis][local] ? point.at[axis] : highs[axis][local];
        }
        any_hit = any_hit || exact_from_float(word_at(long_at(push.columns, 6), row)) > 0.0LF;
      }
    }
  }
  if (any_hit) {
    atomicOr(hits, 1);
  }
  barrier();
  for (uint half_of = kGroup / 2; half_of > 0; half_of /= 2) {
    if (local < half_of) {
      for (uint axis = 0; axis < 3; ++axis) {
        const double low = lows[axis][local + half_of];
        const double high = highs[axis][local + half_of];
        lows[axis][local] = low < lows[axis][local] ? low : lows[axis][local];
        highs[axis][local] = high > highs[axis][local] ? high : highs[axis][local];
      }
    }
    barrier();
  }
  if (local == 0) {
    for (uint axis = 0; axis < 3; ++axis) {
      put_long(push.box, GROUP_NUMBER * kBoxWords + axis, doubleBitsToUint64(lows[axis][0]));
      put_long(push.box, GROUP_NUMBER * kBoxWords + 3 + axis, doubleBitsToUint64(highs[axis][0]));
    }
    put_long(push.box, GROUP_NUMBER * kBoxWords + 6, hits);
  }
}
