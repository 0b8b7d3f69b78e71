// The beginnings of the accesses of each stream to each set, in the order by sets, and the longest sequence.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/caches/arguments.h"

layout(local_size_x = RR_LRU_THREADS) in;
layout(push_constant, scalar) uniform Push {
  SequenceArguments arguments;
};

/// The first access that is not before this stream and set. The sort is stable: sets ascend, then accesses.
uint begin_of(uint sequence) {
  const uint set = sequence / arguments.streams;
  const uint begin = Words(arguments.begins).at[sequence % arguments.streams];
  uint low = 0;
  uint high = arguments.count;
  while (low < high) {
    const uint middle = (low + high) / 2;
    const uint key = Words(arguments.keys).at[middle];
    if (key < set || (key == set && Words(arguments.order).at[middle] < begin)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void main() {
  const uint sequence = (gl_WorkGroupID.x + arguments.first_group) * RR_LRU_THREADS + gl_LocalInvocationIndex;
  if (sequence > arguments.sequences) {
    return;
  }
  const uint begin = sequence == arguments.sequences ? arguments.count : begin_of(sequence);
  Words(arguments.to).at[sequence] = begin;
  if (sequence < arguments.sequences) {
    const uint end = sequence + 1 == arguments.sequences ? arguments.count : begin_of(sequence + 1);
    atomicMax(Words(arguments.longest).at[0], end - begin);
  }
}
