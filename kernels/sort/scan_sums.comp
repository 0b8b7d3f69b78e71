// The sums of the blocks before each block.
//
// Contract: one workgroup. sums[b] becomes the sum of sums[0…b−1]; the sum of all goes to entry `count` of `to`.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/sort/sums.glsl"

void main() {
  uint64_t carry = 0;
  for (uint base = 0; base < push.blocks; base += kThreads) {
    const uint block = base + gl_LocalInvocationIndex;
    const bool is_in = block < push.blocks;
    Longs at = Longs(push.sums + uint64_t(block) * 8);
    uint64_t total;
    const uint64_t before = sum_before(is_in ? at.at[0] : 0ul, total);
    if (is_in) {
      at.at[0] = carry + before;
    }
    carry += total;
  }
  if (gl_LocalInvocationIndex == 0) {
#ifdef TO64
    Longs(push.to + push.count * 8).at[0] = carry;
#else
    Words(push.to + push.count * 4).at[0] = uint(carry);
#endif
  }
}
