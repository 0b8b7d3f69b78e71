// The permutation whose inversions are counted: elements are the accesses p with a next one, in order; an element's
// value is the number of the next access among those that are not first ones.
//
// Accesses without a next one, and the padding of the last tile, come last with values above all: they change no count,
// and tiles and nodes are full. Sums start at −1 − p, a term of the distance.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/reuse/arguments.h"

layout(local_size_x = RR_REUSE_THREADS) in;
layout(push_constant, scalar) uniform Push {
  ElementArguments arguments;
};

/// Bits that are set before bit i.
uint rank(uint64_t bits, uint64_t before, uint i) {
  const uint word = i / 32;
  return Words(before).at[word] + bitCount(Words(bits).at[word] & ((1u << (i % 32)) - 1));
}

void main() {
  const uint p = (gl_WorkGroupID.x + arguments.first_group) * RR_REUSE_THREADS + gl_LocalInvocationIndex;
  if (p >= arguments.padded) {
    return;
  }
  uint place = p;
  uint value = p;
  if (p < arguments.count) {
    const uint next = Words(arguments.next).at[p];
    const uint last_before = rank(arguments.last, arguments.last_before, p);
    if (next == RR_REUSE_NONE) {
      place = arguments.count - Words(arguments.last_before).at[arguments.words] + last_before;
      value = place;
    } else {
      place = p - last_before;
      value = next - rank(arguments.cold, arguments.cold_before, next);
    }
  }
  Words(arguments.values).at[place] = value;
  Words(arguments.sums).at[place] = ~p;
}
