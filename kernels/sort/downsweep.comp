// One pass of the sort: moves every key and value to the place of its digit. Stable.
//
// Contract: workgroup b takes the tiles of block b in order. A tile is sorted by digit in shared memory, then written
// in that order, so that neighbouring threads write to neighbouring places. `counts` is the output of scan_rows. Reads
// and writes every key and value once.
//
// Ranks inside a tile: the keys of a subgroup are contiguous in memory, taken row by row. Lanes with equal digits in a
// row find each other by ballots over the digit's bits (Merrill and Grimshaw, "High performance and scalable radix
// sorting", Parallel Processing Letters 2011, count by digit; matching by ballot as in Adinets and Merrill, "Onesweep",
// 2022); the first of them adds their number to the subgroup's count of the digit.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/sort/keys.glsl"

layout(constant_id = 3) const bool kValues = true;

const uint kKeyWords = uint(KEY_BYTES) / 4;
const uint kPoolCounts = kSubgroups * kBins;
const uint kPoolKeys = kTile * kKeyWords;

/// First the subgroups' counts per digit, then the sorted tile's keys (low words, then high words), then its values.
shared uint pool[kPoolCounts > kPoolKeys ? kPoolCounts : kPoolKeys];
/// Of a digit: its first place in the sorted tile.
shared uint first_place[kBins];
/// By digit: difference between the place in the output and in the sorted tile. Wraps around.
shared uint to_next_place[kBins];

/// The number of lanes with the same digit before this one, and of all of them; `leader` is the first of them.
uint match(uint digit, out uint peers, out uint leader) {
  if (kSubgroup <= 32) {
    uint same = 0xFFFFFFFFu;
    EACH for (uint bit = 0; bit < 8; ++bit) {
      const bool is_set = (digit >> bit & 1) != 0;
      const uint set = subgroupBallot(is_set).x;
      same &= is_set ? set : ~set;
    }
    // Inactive lanes answer as clear bits.
    same &= 0xFFFFFFFFu >> (32 - kSubgroup);
    peers = bitCount(same);
    leader = findLSB(same);
    return bitCount(same & gl_SubgroupLtMask.x);
  }
  uvec4 same = uvec4(0xFFFFFFFFu);
  for (uint bit = 0; bit < 8; ++bit) {
    const bool is_set = (digit >> bit & 1) != 0;
    const uvec4 set = subgroupBallot(is_set);
    same &= is_set ? set : ~set;
  }
  if (kSubgroup == 64) {
    same.zw = uvec2(0);
  }
  peers = subgroupBallotBitCount(same);
  leader = subgroupBallotFindLSB(same);
  const uvec4 before = same & gl_SubgroupLtMask;
  return bitCount(before.x) + bitCount(before.y) + bitCount(before.z) + bitCount(before.w);
}

void main() {
  const uint block = gl_WorkGroupID.x + push.first_group;
  const uint thread = thread_number();
  const uint first_bin = thread * kBinsPerThread;
  const bool has_bins = first_bin < kBins;

  // For the thread's digits: the place of the block's next key.
  uint next_place[kBinsPerThread];
  {
    uint total[kBinsPerThread];
    uint sum = 0;
    EACH for (uint b = 0; b < kBinsPerThread; ++b) {
      total[b] = has_bins ? Words(push.totals).at[first_bin + b] : 0;
      sum += total[b];
    }
    uint all;
    uint before = sum_before(sum, all);
    EACH for (uint b = 0; b < kBinsPerThread; ++b) {
      next_place[b] = has_bins ? before + word_at(push.counts, (first_bin + b) * push.blocks + block).at[0] : 0;
      before += total[b];
    }
  }

  uint base = block * push.tiles_per_block * kTile;
  uint left = min(push.count - base, push.tiles_per_block * kTile);
  const uint counts = gl_SubgroupID * kBins;
  const uint first_item = gl_SubgroupID * (kSubgroup * kItems) + gl_SubgroupInvocationID;
  while (left > 0) {
    const bool full = left >= kTile;
    for (uint bin = thread; bin < kPoolCounts; bin += kThreads) {
      pool[bin] = 0;
    }
    Key key[kItems];
    if (full) {
      Keys from = key_at(push.keys, base + first_item);
      EACH for (uint i = 0; i < kItems; ++i) {
        key[i] = from.at[i * kSubgroup];
      }
    } else {
      // The last key is followed by keys of ones, which have the last digit and stay behind all others.
      EACH for (uint i = 0; i < kItems; ++i) {
        const uint item = first_item + i * kSubgroup;
        key[i] = ~Key(0);
        if (item < left) {
          key[i] = key_at(push.keys, base + item).at[0];
        }
      }
    }
    barrier();

    uint rank[kItems];
    EACH for (uint i = 0; i < kItems; ++i) {
      const uint digit = digit_of(key[i]);
      uint peers;
      uint leader;
      const uint before = match(digit, peers, leader);
      uint earlier = 0;
      if (gl_SubgroupInvocationID == leader) {
        earlier = atomicAdd(pool[counts + digit], peers);
      }
      rank[i] = subgroupShuffle(earlier, leader) + before;
    }
    barrier();

    // Counts per subgroup become sums over earlier subgroups.
    uint total[kBinsPerThread];
    uint sum = 0;
    EACH for (uint b = 0; b < kBinsPerThread; ++b) {
      uint running = 0;
      if (has_bins) {
        for (uint s = 0; s < kSubgroups; ++s) {
          const uint at = s * kBins + first_bin + b;
          const uint count = pool[at];
          pool[at] = running;
          running += count;
        }
      }
      total[b] = running;
      sum += running;
    }
    uint all;
    uint before = sum_before(sum, all);
    if (has_bins) {
      EACH for (uint b = 0; b < kBinsPerThread; ++b) {
        first_place[first_bin + b] = before;
        to_next_place[first_bin + b] = next_place[b] - before;
        before += total[b];
        next_place[b] += total[b];
      }
    }
    barrier();
    EACH for (uint i = 0; i < kItems; ++i) {
      const uint digit = digit_of(key[i]);
      rank[i] += first_place[digit] + pool[counts + digit];
    }
    uint value[kItems];
    if (kValues) {
      // Loaded here, to arrive while the keys are written.
      if (full) {
        Words from = word_at(push.values, base + first_item);
        EACH for (uint i = 0; i < kItems; ++i) {
          value[i] = from.at[i * kSubgroup];
        }
      } else {
        EACH for (uint i = 0; i < kItems; ++i) {
          const uint item = first_item + i * kSubgroup;
          value[i] = 0;
          if (item < left) {
            value[i] = word_at(push.values, base + item).at[0];
          }
        }
      }
    }
    barrier();

    EACH for (uint i = 0; i < kItems; ++i) {
#ifdef KEY64
      pool[rank[i]] = uint(key[i]);
      pool[kTile + rank[i]] = uint(key[i] >> 32);
#else
      pool[rank[i]] = key[i];
#endif
    }
    barrier();
    uint place[kItems];
    EACH for (uint i = 0; i < kItems; ++i) {
      const uint from = i * kThreads + thread;
#ifdef KEY64
      const Key sorted = uint64_t(pool[kTile + from]) << 32 | pool[from];
#else
      const Key sorted = pool[from];
#endif
      place[i] = to_next_place[digit_of(sorted)] + from;
      if (full || from < left) {
        key_at(push.to_keys, place[i]).at[0] = sorted;
      }
    }
    if (kValues) {
      barrier();
      EACH for (uint i = 0; i < kItems; ++i) {
        pool[rank[i]] = value[i];
      }
      barrier();
      EACH for (uint i = 0; i < kItems; ++i) {
        const uint from = i * kThreads + thread;
        if (full || from < left) {
          word_at(push.to_values, place[i]).at[0] = pool[from];
        }
      }
    }
    barrier();
    base += kTile;
    left -= min(left, kTile);
  }
}
