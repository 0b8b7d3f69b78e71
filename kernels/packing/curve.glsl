// Shared by the kernels of the curves: a vector of one of the thread's rays.
#include "kernels/packing/packing.glsl"

layout(push_constant, scalar) uniform Push {
  KeyPush push;
};

/// The bits of the vector of the thread's ray; false without such a ray, or with infinity or NaN in it.
bool vector_of(uint thread, out uvec3 bits) {
  const uint64_t begin = long_at(push.offset, thread).at[0];
  const uint64_t end = long_at(push.offset, uint64_t(thread) + 1).at[0];
  bits = uvec3(0);
  if (push.number >= end - begin) {
    return false;
  }
  const uint64_t row = begin + push.number;
  bits = uvec3(word_at(push.x, row).at[0], word_at(push.y, row).at[0], word_at(push.z, row).at[0]);
  const uvec3 exponent = bits & 0x7F800000u;
  return exponent.x != 0x7F800000u && exponent.y != 0x7F800000u && exponent.z != 0x7F800000u;
}

/// Unsigned numbers in the order of the floats, -0 before 0.
uint ordered(uint bits) {
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
uint from_ordered(uint number) {
  return (number >> 31) != 0 ? number & 0x7FFFFFFFu : ~number;
}
