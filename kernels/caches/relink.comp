// Next, first and last uses in the order by sets: the next access to a line is in the line's set.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/caches/arguments.h"

layout(local_size_x = RR_LRU_THREADS) in;
layout(push_constant, scalar) uniform Push {
  RelinkArguments arguments;
};

void set_bit(uint64_t bits, uint i) {
  atomicOr(Words(bits).at[i / 32], 1u << (i % 32));
}

void main() {
  const uint i = (gl_WorkGroupID.x + arguments.first_group) * RR_LRU_THREADS + gl_LocalInvocationIndex;
  if (i >= arguments.count) {
    return;
  }
  const uint place = Words(arguments.place).at[i];
  uint next = Words(arguments.next).at[i];
  if (next == RR_LRU_NONE) {
    set_bit(arguments.last_to, place);
  } else {
    next = Words(arguments.place).at[next];
  }
  Words(arguments.next_to).at[place] = next;
  if ((Words(arguments.cold).at[i / 32] >> (i % 32) & 1u) != 0) {
    set_bit(arguments.cold_to, place);
  }
}
