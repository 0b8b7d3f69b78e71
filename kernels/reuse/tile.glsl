// One digit of a tile's elements: how many of those before are equal, and how many smaller.
//
// Contract: thread t has elements 8t … 8t + 7 of the tile. Elements before `first` · 8 belong to other nodes and do not
// count. `words` is free afterwards. Shared memory: words, totals (packed: digit 2q in the low half of totals[q]).
// Three steps: within the thread by 4-bit counters in one 64-bit number; over threads by sums along rows (one for two
// digits, 16 bits each); over digits by each thread.

const uint kPadded = RR_REUSE_TILE + RR_REUSE_TILE / 8;
shared uint words[2 * kPadded];
shared uint totals[RR_REUSE_DIGITS / 2];

/// Index of element i in `words`, without bank conflicts for threads that read 8 in a row each.
uint slot(uint i) {
  return i + i / 8;
}

void count_digit(const uint digit[RR_REUSE_ITEMS], uint first, out uint same[RR_REUSE_ITEMS],
                 out uint smaller[RR_REUSE_ITEMS]) {
  const uint self = gl_LocalInvocationIndex;
  uint64_t counts = 0ul;
  [[unroll]] for (uint k = 0; k < RR_REUSE_ITEMS; ++k) {
    const uint at = 4 * digit[k];
    same[k] = uint(counts >> at) & 15u;
    const uint64_t below = counts & ((1ul << at) - 1ul);
    smaller[k] = uint((below * 0x1111111111111111ul) >> 60);  // the sum of its 4-bit numbers, at most 7
    counts += 1ul << at;
  }
  [[unroll]] for (uint q = 0; q < RR_REUSE_DIGITS / 2; ++q) {
    const uint both = uint(counts >> (8 * q));
    words[q * RR_REUSE_THREADS + self] = (both & 15u) | ((both >> 4) & 15u) << 16;
  }
  barrier();
  for (uint row = gl_SubgroupID; row < RR_REUSE_DIGITS / 2; row += gl_NumSubgroups) {
    uint before = 0;
    for (uint column = 0; column < RR_REUSE_THREADS; column += gl_SubgroupSize) {
      const uint at = row * RR_REUSE_THREADS + column + gl_SubgroupInvocationID;
      const uint own = words[at];
      const uint sum = subgroupInclusiveAdd(own);
      words[at] = before + sum - own;
      before += subgroupShuffle(sum, gl_SubgroupSize - 1);
    }
    if (gl_SubgroupInvocationID == 0) {
      totals[row] = before;
    }
  }
  barrier();
  uint pair[RR_REUSE_DIGITS / 2];
  [[unroll]] for (uint q = 0; q < RR_REUSE_DIGITS / 2; ++q) {
    // Sums only grow: neither half borrows from the other.
    pair[q] = words[q * RR_REUSE_THREADS + self] - words[q * RR_REUSE_THREADS + first];
  }
  barrier();
  uint below = 0;
  [[unroll]] for (uint q = 0; q < RR_REUSE_DIGITS / 2; ++q) {
    const uint even = pair[q] & 0xFFFFu;
    const uint odd = pair[q] >> 16;
    words[2 * q * RR_REUSE_THREADS + self] = even | below << 16;
    below += even;
    words[(2 * q + 1) * RR_REUSE_THREADS + self] = odd | below << 16;
    below += odd;
  }
  [[unroll]] for (uint k = 0; k < RR_REUSE_ITEMS; ++k) {
    const uint found = words[digit[k] * RR_REUSE_THREADS + self];
    same[k] += found & 0xFFFFu;
    smaller[k] += found >> 16;
  }
  barrier();
}
