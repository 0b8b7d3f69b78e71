// The sum of all items before each item.
//
// Contract: workgroup b does items [b·block_items, (b+1)·block_items); sums[b] is the sum of all before them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/sort/sums.glsl"

void main() {
  const uint64_t block = gl_WorkGroupID.x + push.first_group;
  const uint64_t begin = block * push.block_items;
  const uint64_t end = min(push.count, begin + push.block_items);
  uint64_t carry = Longs(push.sums + block * 8).at[0];
  for (uint64_t base = begin; base < end; base += kTile) {
    const uint64_t first = base + 4 * gl_LocalInvocationIndex;
    const uvec4 items = four_at(first, end);
    uint64_t total;
    const uint64_t before = carry + sum_before(sum_of(items), total);
    carry += total;
#ifdef TO64
    uint64_t sum = before;
    for (uint i = 0; i < 4; ++i) {
      if (first + i < end) {
        Longs(push.to + (first + i) * 8).at[0] = sum;
      }
      sum += items[i];
    }
#else
    const uint a = uint(before);
    const uvec4 sums = uvec4(a, a + items.x, a + items.x + items.y, a + items.x + items.y + items.z);
    if (first + 4 <= end) {
      Quads(push.to + first * 4).at[0] = sums;
    } else {
      for (uint i = 0; i < 4; ++i) {
        if (first + i < end) {
          Words(push.to + (first + i) * 4).at[0] = sums[i];
        }
      }
    }
#endif
  }
}
