// Counts of each digit in each block of keys.
//
// Contract: workgroup b counts the digits of block b, tiles_per_block tiles long (the last block may be partial), into
// counts[digit][b]. Every subgroup has its own bins, to avoid contention. Reads every key once, coalesced.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/sort/keys.glsl"

shared uint bins[kSubgroups * kBins];

void main() {
  const uint block = gl_WorkGroupID.x + push.first_group;
  const uint thread = thread_number();
  for (uint bin = thread; bin < kSubgroups * kBins; bin += kThreads) {
    bins[bin] = 0;
  }
  barrier();
  const uint mine = gl_SubgroupID * kBins;
  uint base = block * push.tiles_per_block * kTile;
  uint left = min(push.count - base, push.tiles_per_block * kTile);
  while (left >= kTile) {
    Keys from = key_at(push.keys, base + thread);
    Key key[kItems];
    EACH for (uint i = 0; i < kItems; ++i) {
      key[i] = from.at[i * kThreads];
    }
    EACH for (uint i = 0; i < kItems; ++i) {
      atomicAdd(bins[mine + digit_of(key[i])], 1);
    }
    base += kTile;
    left -= kTile;
  }
  for (uint i = thread; i < left; i += kThreads) {
    atomicAdd(bins[mine + digit_of(key_at(push.keys, base + i).at[0])], 1);
  }
  barrier();
  for (uint bin = thread; bin < kBins; bin += kThreads) {
    uint sum = 0;
    for (uint s = 0; s < kSubgroups; ++s) {
      sum += bins[s * kBins + bin];
    }
    word_at(push.counts, bin * push.blocks + block).at[0] = sum;
  }
}
