// For each digit, how many keys with it are in the blocks before each block.
//
// Contract: workgroup d replaces counts[d][b] by the sum of counts[d][0…b−1], and writes the sum of the whole row to
// totals[d]. Sums are at most the number of keys, below 2^32.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/sort/keys.glsl"

void main() {
  const uint digit = gl_WorkGroupID.x + push.first_group;
  const uint thread = thread_number();
  const uint64_t row = push.counts + uint64_t(digit) * push.blocks * 4;
  uint carry = 0;
  for (uint base = 0; base < push.blocks; base += kThreads) {
    const bool is_in = base + thread < push.blocks;
    Words at = word_at(row, base + thread);
    uint total;
    const uint before = sum_before(is_in ? at.at[0] : 0, total);
    if (is_in) {
      at.at[0] = carry + before;
    }
    carry += total;
    barrier();
  }
  if (thread == 0) {
    Words(push.totals).at[digit] = carry;
  }
}
