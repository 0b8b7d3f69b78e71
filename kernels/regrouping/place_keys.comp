// Writes the place of every pending call as a Morton code into the low bits of its key. One invocation per thread of
// the launch.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/place.glsl"
#include "kernels/shaders/spread.glsl"

/// The cell among 2^bits between low and high.
uint cell(double value, double low, double high) {
  precise const double extent = high - low;
  if (!(extent > 0.0LF)) {
    return 0;
  }
  const uint last = (1u << push.bits) - 1;
  precise const double from = value - low;
  precise const double part = exact_divide(from, extent);
  precise const double cells = part * double(1u << push.bits);
  return cells >= double(last) ? last : cells > 0.0LF ? uint(cells) : 0;
}

void main() {
  const uint thread = THREAD_NUMBER;
  if (thread >= push.threads) {
    return;
  }
  const uint first = word_at(push.first, thread);
  const uint last = word_at(push.first, thread + 1);
  for (uint segment = first; segment < last; ++segment) {
    const uint row = uint(long_at(push.segment_offset, segment));
    const uint kind = byte_at(push.kind, row);
    if (kind != kMiss && kind != kClosestHit) {
      continue;
    }
    const uint ray = ray_of(thread, segment, row, uint(long_at(push.segment_offset, first)));
    const Point point = point_of(kind, row, ray);
    const bool finite = is_finite(point);
    uint64_t code = 0;
    for (uint axis = 0; axis < 3; ++axis) {
      double low = -1.0LF;
      double high = 1.0LF;
      if (!is_direction(kind)) {
        low = uint64BitsToDouble(long_at(push.box, axis));
        high = uint64BitsToDouble(long_at(push.box, 3 + axis));
      }
      const uint at = finite ? cell(point.at[axis], low, high) : (1u << push.bits) - 1;
      code |= spread3(at) << axis;
    }
    put_long(push.keys, segment, long_at(push.keys, segment) | code);
  }
}
