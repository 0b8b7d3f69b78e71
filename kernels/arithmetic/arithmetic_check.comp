// Arithmetic samples of the device's doubles, one case per invocation (arithmetic_check.hpp).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/arithmetic/exact.glsl"

layout(local_size_x = 64) in;
layout(push_constant, scalar) uniform Push {
  uint first_group;
  uint count;
  uint64_t operands;  ///< pairs of doubles
  uint64_t results;   ///< kResults words of 64 bits a case
};

void main() {
  const uint i = (gl_WorkGroupID.x + first_group) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (i >= count) {
    return;
  }
  const uint64_t a_bits = Longs(operands).at[2u * i];
  const uint64_t b_bits = Longs(operands).at[2u * i + 1u];
  const double a = uint64BitsToDouble(a_bits);
  const double b = uint64BitsToDouble(b_bits);
  precise const double sum = a + b;
  precise const double difference = a - b;
  precise const double product = a * b;
  precise double chain = a * b;
  chain = chain + a;
  const uint to = 9u * i;
  Longs(results).at[to] = doubleBitsToUint64(exact_divide(a, b));
  Longs(results).at[to + 1u] = doubleBitsToUint64(exact_sqrt(a));
  Longs(results).at[to + 2u] = uint64_t(exact_to_float(a));
  Longs(results).at[to + 3u] = doubleBitsToUint64(exact_from_float(uint(a_bits)));
  Longs(results).at[to + 4u] = doubleBitsToUint64(sum);
  Longs(results).at[to + 5u] = doubleBitsToUint64(difference);
  Longs(results).at[to + 6u] = doubleBitsToUint64(product);
  Longs(results).at[to + 7u] = doubleBitsToUint64(chain);
  Longs(results).at[to + 8u] = (a < b ? 1ul : 0ul) | (a <= b ? 2ul : 0ul) | (a == b ? 4ul : 0ul) | (abs(a) > 0.0LF ? 8ul : 0ul);
}
