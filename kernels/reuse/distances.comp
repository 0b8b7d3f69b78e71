// From sums, in the order of accesses that are not first ones, to the distance of every access.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/reuse/arguments.h"

layout(local_size_x = RR_REUSE_THREADS) in;
layout(push_constant, scalar) uniform Push {
  DistanceArguments arguments;
};

void main() {
  const uint i = (gl_WorkGroupID.x + arguments.first_group) * RR_REUSE_THREADS + gl_LocalInvocationIndex;
  if (i >= arguments.count) {
    return;
  }
  const uint bits = Words(arguments.cold).at[i / 32];
  const uint bit = 1u << (i % 32);
  uint distance = RR_REUSE_NONE;
  if ((bits & bit) == 0) {
    const uint cold_before = Words(arguments.cold_before).at[i / 32] + bitCount(bits & (bit - 1));
    distance = Words(arguments.sums).at[i - cold_before] + cold_before;
  }
  Words(arguments.distances).at[i] = distance;
}
