// Quotients of pairs of doubles, and floats as doubles, by kernels/packing/exact.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/packing/exact.glsl"

layout(local_size_x = 64) in;
layout(push_constant, scalar) uniform Push {
  uint first_group;
  uint count;
  uint64_t dividends;
  uint64_t divisors;
  uint64_t quotients;
  uint64_t floats;
  uint64_t widened;
};

void main() {
  const uint i = (gl_WorkGroupID.x + first_group) * 64 + gl_LocalInvocationIndex;
  if (i < count) {
    Longs(quotients).at[i] = to_bits(divide(from_bits(Longs(dividends).at[i]), from_bits(Longs(divisors).at[i])));
    Longs(widened).at[i] = to_bits(widen(Words(floats).at[i]));
  }
}
