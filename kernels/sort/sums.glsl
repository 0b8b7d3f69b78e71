// Shared by the kernels of the prefix sums: a scan of 64-bit numbers over a workgroup.
//
// Contract: 256 threads; a tile is 1024 items, four neighbouring ones a thread.
#include "kernels/shaders/common.glsl"
#include "kernels/sort/sort_types.h"

layout(local_size_x = 256) in;
layout(push_constant, scalar) uniform Push {
  SumPush push;
};

const uint kThreads = 256;
const uint kTile = 4 * kThreads;

shared uint64_t partial[2][kThreads];

/// Sums of `mine` over the threads before this one, and over all (Hillis and Steele 1986): 64-bit subgroup operations
/// are not available everywhere. Ends with a barrier.
uint64_t sum_before(uint64_t mine, out uint64_t total) {
  const uint thread = gl_LocalInvocationIndex;
  uint at = 0;
  partial[0][thread] = mine;
  barrier();
  for (uint step = 1; step < kThreads; step *= 2) {
    const uint64_t sum = partial[at][thread] + (thread >= step ? partial[at][thread - step] : 0ul);
    at = 1 - at;
    partial[at][thread] = sum;
    barrier();
  }
  total = partial[at][kThreads - 1];
  const uint64_t before = partial[at][thread] - mine;
  barrier();
  return before;
}

/// Items [first, first + 4) of `from`; 0 behind the end.
uvec4 four_at(uint64_t first, uint64_t end) {
  if (first + 4 <= end) {
    return Quads(push.from + first * 4).at[0];
  }
  uvec4 items = uvec4(0);
  for (uint i = 0; i < 4; ++i) {
    if (first + i < end) {
      items[i] = Words(push.from + (first + i) * 4).at[0];
    }
  }
  return items;
}

uint64_t sum_of(uvec4 items) {
  return uint64_t(items.x) + items.y + items.z + items.w;
}
