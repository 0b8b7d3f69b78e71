#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"

// y[i] = the bits of i / 3 in double precision
layout(local_size_x = 64) in;
layout(push_constant, scalar) uniform Push {
  uint first_group;
  uint count;
  Longs y;
};

void main() {
  const uint i = (gl_WorkGroupID.x + first_group) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (i < count) {
    y.at[i] = doubleBitsToUint64(double(i) / 3.0lf);
  }
}
