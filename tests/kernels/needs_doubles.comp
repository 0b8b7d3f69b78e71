#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"

// y[i] = the bits of a third of i, in double precision: a product, since Vulkan leaves the rounding of quotients open
layout(local_size_x = 64) in;
layout(push_constant, scalar) uniform Push {
  uint first_group;
  uint count;
  Longs y;
};

void main() {
  const uint i = (gl_WorkGroupID.x + first_group) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (i < count) {
    y.at[i] = doubleBitsToUint64(double(i) * 0.333333333333333314829616256247390992939472198486328125lf);
  }
}
