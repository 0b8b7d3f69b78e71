// Accesses of a piece by the number of ways at which they hit first: a cache of w ways holds distances < w.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/caches/arguments.h"
#include "kernels/reuse/arguments.h"

layout(local_size_x = RR_LRU_THREADS) in;
layout(push_constant, scalar) uniform Push {
  WaysArguments arguments;
};

const uint kCopies = 32;  // one per memory bank, to avoid conflicts
shared uint ways[RR_LRU_MOST_WAYS];
shared uint bins[RR_LRU_ROW * kCopies];

void main() {
  const uint self = gl_LocalInvocationIndex;
  const uint piece = (gl_WorkGroupID.x + arguments.first_group) * RR_REUSE_PIECE_WORDS;
  const uint row = Words(arguments.pieces).at[piece];
  const uint end = Words(arguments.pieces).at[piece + 2];
  for (uint i = self; i < RR_LRU_ROW * kCopies; i += RR_LRU_THREADS) {
    bins[i] = 0;
  }
  if (self < arguments.ways_count) {
    ways[self] = Words(arguments.ways).at[self];
  }
  barrier();
  for (uint i = Words(arguments.pieces).at[piece + 1] + self; i < end; i += RR_LRU_THREADS) {
    const uint at = arguments.in_place != 0 ? i : Words(arguments.place).at[i];
    const uint distance = Words(arguments.distances).at[at];
    // The first number of ways above the distance; none for a first use.
    uint low = 0;
    uint high = arguments.ways_count;
    while (low < high) {
      const uint middle = (low + high) / 2;
      if (ways[middle] > distance) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    atomicAdd(bins[low * kCopies + self % kCopies], 1);
  }
  barrier();
  if (self <= arguments.ways_count) {
    uint sum = 0;
    for (uint i = 0; i < kCopies; ++i) {
      sum += bins[self * kCopies + (self + i) % kCopies];
    }
    if (sum != 0) {
      atomicAdd(Words(arguments.counts).at[row * RR_LRU_ROW + self], sum);
    }
  }
}
