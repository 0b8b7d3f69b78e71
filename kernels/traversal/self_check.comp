// Arithmetic samples of the device; the host compares them (self_check.cpp).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/traversal/numbers.glsl"

layout(local_size_x = 64) in;

layout(push_constant, scalar) uniform Push {
  uint first_group;
  uint count;
  uint64_t pair_at;  // two doubles each
  uint64_t word_at;  // kWords words each
};

const uint kWords = 8u;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Doubles { double at[]; };

void main() {
  const uint i = (gl_WorkGroupID.x + first_group) * 64u + gl_LocalInvocationIndex;
  if (i >= count) {
    return;
  }
  const double a = Doubles(pair_at).at[2u * i];
  const double b = Doubles(pair_at).at[2u * i + 1u];
  const float x = float(a);
  const float y = float(b);
  Words to = Words(word_at + uint64_t(i) * kWords * 4ul);
  const uvec2 quotient = unpackUint2x32(bits_of(divided(a, b)));
  precise double mixed = a * b + a;
  const uvec2 sum = unpackUint2x32(bits_of(mixed));
  precise float product = x * y;
  precise float rest = product - x;
  to.at[0] = quotient.x;
  to.at[1] = quotient.y;
  to.at[2] = sum.x;
  to.at[3] = sum.y;
  to.at[4] = floatBitsToUint(x);
  to.at[5] = floatBitsToUint(round_down(a));
  to.at[6] = floatBitsToUint(rest);
  to.at[7] = floatBitsToUint(n_min(n_max(x, y), kNan * y));
}
