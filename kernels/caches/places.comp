// The position of every access in the order by sets: the inverse of that order.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/caches/arguments.h"

layout(local_size_x = RR_LRU_THREADS) in;
layout(push_constant, scalar) uniform Push {
  PlaceArguments arguments;
};

void main() {
  const uint k = (gl_WorkGroupID.x + arguments.first_group) * RR_LRU_THREADS + gl_LocalInvocationIndex;
  if (k < arguments.count) {
    Words(arguments.place).at[Words(arguments.order).at[k]] = k;
  }
}
