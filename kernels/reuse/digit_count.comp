// Counts of each digit in a tile: counts[node][digit][tile of the node].
#version 460
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/reuse/arguments.h"

layout(local_size_x = RR_REUSE_THREADS) in;
layout(push_constant, scalar) uniform Push {
  DigitArguments arguments;
};

const uint kCopies = 32;  // one per memory bank, to avoid conflicts
shared uint bins[RR_REUSE_DIGITS * kCopies];

void main() {
  const uint tile = gl_WorkGroupID.x + arguments.first_group;
  const uint self = gl_LocalInvocationIndex;
  for (uint i = self; i < RR_REUSE_DIGITS * kCopies; i += RR_REUSE_THREADS) {
    bins[i] = 0;
  }
  barrier();
  if (tile < arguments.tiles) {  // the last node has fewer
    [[unroll]] for (uint k = 0; k < RR_REUSE_ITEMS; ++k) {
      const uint value = Words(arguments.values).at[tile * RR_REUSE_TILE + k * RR_REUSE_THREADS + self];
      const uint digit = (value >> arguments.shift) % RR_REUSE_DIGITS;
      atomicAdd(bins[digit * kCopies + self % kCopies], 1);
    }
  }
  barrier();
  if (self < RR_REUSE_DIGITS) {
    uint sum = 0;
    for (uint i = 0; i < kCopies; ++i) {
      sum += bins[self * kCopies + (self + i) % kCopies];
    }
    const uint node = tile / arguments.per_node;
    Words(arguments.counts).at[(node * RR_REUSE_DIGITS + self) * arguments.per_node + tile % arguments.per_node] = sum;
  }
}
