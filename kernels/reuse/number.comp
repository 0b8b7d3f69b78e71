// numbers[i] = i.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/reuse/arguments.h"

layout(local_size_x = RR_REUSE_THREADS) in;
layout(push_constant, scalar) uniform Push {
  NumberArguments arguments;
};

void main() {
  const uint i = (gl_WorkGroupID.x + arguments.first_group) * RR_REUSE_THREADS + gl_LocalInvocationIndex;
  if (i < arguments.count) {
    Words(arguments.numbers).at[i] = i;
  }
}
