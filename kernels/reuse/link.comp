// From accesses sorted by line: the next access to each access's line, and bits of first and last accesses.
//
// The sort is stable: accesses to a line follow each other in order, stream after stream, so neighbours of one line in
// one stream are an access and the next one. Only first and last accesses, usually few, set bits by atomics.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/reuse/arguments.h"

layout(local_size_x = RR_REUSE_THREADS) in;
layout(push_constant, scalar) uniform Push {
  LinkArguments arguments;
};

#ifdef LONG_KEYS
#define Keys Longs
#else
#define Keys Words
#endif

/// j < i
bool one_stream(uint j, uint i) {
  // The first stream that begins behind j; the end of the last one is behind all accesses.
  uint low = 1;
  uint high = arguments.streams;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (Words(arguments.begins).at[middle] > j) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low == arguments.streams || i < Words(arguments.begins).at[low];
}

void set_bit(uint64_t bits, uint i) {
  atomicOr(Words(bits).at[i / 32], 1u << (i % 32));
}

void main() {
  const uint k = (gl_WorkGroupID.x + arguments.first_group) * RR_REUSE_THREADS + gl_LocalInvocationIndex;
  if (k >= arguments.count) {
    return;
  }
  const uint self = Words(arguments.index).at[k];
  if (k == 0) {
    set_bit(arguments.cold, self);
  }
  uint next = RR_REUSE_NONE;
  if (k + 1 < arguments.count) {
    const uint other = Words(arguments.index).at[k + 1];
    if (Keys(arguments.keys).at[k] == Keys(arguments.keys).at[k + 1] && one_stream(self, other)) {
      next = other;
    } else {
      set_bit(arguments.cold, other);
    }
  }
  if (next == RR_REUSE_NONE) {
    set_bit(arguments.last, self);
  }
  Words(arguments.next).at[self] = next;
}
