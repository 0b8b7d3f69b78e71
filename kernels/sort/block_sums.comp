// The sum of each block of items.
//
// Contract: workgroup b writes the sum of items [b·block_items, (b+1)·block_items) to sums[b].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/sort/sums.glsl"

void main() {
  const uint64_t block = gl_WorkGroupID.x + push.first_group;
  const uint64_t begin = block * push.block_items;
  const uint64_t end = min(push.count, begin + push.block_items);
  uint64_t sum = 0;
  for (uint64_t base = begin; base < end; base += kTile) {
    sum += sum_of(four_at(base + 4 * gl_LocalInvocationIndex, end));
  }
  uint64_t total;
  sum_before(sum, total);
  if (gl_LocalInvocationIndex == 0) {
    Longs(push.sums + block * 8).at[0] = total;
  }
}
