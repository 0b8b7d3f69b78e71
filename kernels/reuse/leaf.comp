// The lowest 11 bits: nodes of one tile, counted in shared memory. Sums come out in order of values.
#version 460
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/reuse/arguments.h"

layout(local_size_x = RR_REUSE_THREADS) in;
layout(push_constant, scalar) uniform Push {
  DigitArguments arguments;
};
#include "kernels/reuse/tile.glsl"

uint value[RR_REUSE_ITEMS];
uint sum[RR_REUSE_ITEMS];

/// Elements go to the nodes of a digit: `first` is the node's first thread.
void split(uint shift, uint first) {
  uint digit[RR_REUSE_ITEMS];
  uint same[RR_REUSE_ITEMS];
  uint smaller[RR_REUSE_ITEMS];
  [[unroll]] for (uint k = 0; k < RR_REUSE_ITEMS; ++k) {
    digit[k] = (value[k] >> shift) % RR_REUSE_DIGITS;
  }
  count_digit(digit, first, same, smaller);
  [[unroll]] for (uint k = 0; k < RR_REUSE_ITEMS; ++k) {
    const uint place = slot((value[k] >> shift << shift) + same[k]);
    words[place] = value[k];
    words[kPadded + place] = sum[k] + smaller[k];
  }
  barrier();
  [[unroll]] for (uint k = 0; k < RR_REUSE_ITEMS; ++k) {
    const uint place = slot(gl_LocalInvocationIndex * RR_REUSE_ITEMS + k);
    value[k] = words[place];
    sum[k] = words[kPadded + place];
  }
  barrier();
}

void main() {
  const uint tile = gl_WorkGroupID.x + arguments.first_group;
  const uint self = gl_LocalInvocationIndex;
  const uint first = tile * RR_REUSE_TILE + self * RR_REUSE_ITEMS;
  [[unroll]] for (uint four = 0; four < RR_REUSE_ITEMS / 4; ++four) {
    const uvec4 values = Quads(arguments.values).at[first / 4 + four];
    const uvec4 sums = Quads(arguments.sums).at[first / 4 + four];
    [[unroll]] for (uint i = 0; i < 4; ++i) {
      value[4 * four + i] = values[i] % RR_REUSE_TILE;
      sum[4 * four + i] = sums[i];
    }
  }
  split(7, 0);
  split(3, self / 16 * 16);
  // Each thread has eight elements with eight consecutive values left.
  [[unroll]] for (uint k = 1; k < RR_REUSE_ITEMS; ++k) {
    [[unroll]] for (uint j = 0; j < k; ++j) {
      sum[k] += value[j] < value[k] ? 1 : 0;
    }
  }
  [[unroll]] for (uint k = 0; k < RR_REUSE_ITEMS; ++k) {
    words[slot(value[k])] = sum[k];
  }
  barrier();
  for (uint i = self; i < RR_REUSE_TILE; i += RR_REUSE_THREADS) {
    Words(arguments.sums_to).at[tile * RR_REUSE_TILE + i] = words[slot(i)];
  }
}
