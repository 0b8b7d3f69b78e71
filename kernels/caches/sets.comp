// The set of every access, as a key, and its number.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/caches/arguments.h"

layout(local_size_x = RR_LRU_THREADS) in;
layout(push_constant, scalar) uniform Push {
  SetArguments arguments;
};

void main() {
  const uint i = (gl_WorkGroupID.x + arguments.first_group) * RR_LRU_THREADS + gl_LocalInvocationIndex;
  if (i >= arguments.count) {
    return;
  }
#ifdef LONG_LINES
  const uint rest = uint(Longs(arguments.lines).at[i] % uint64_t(arguments.sets));
#else
  const uint rest = Words(arguments.lines).at[i] % arguments.sets;
#endif
  const uint sum = rest + arguments.low;  // both below 2^31
  Words(arguments.keys).at[i] = sum >= arguments.sets ? sum - arguments.sets : sum;
  Words(arguments.index).at[i] = i;
}
