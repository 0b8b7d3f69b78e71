#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"

// y[i] = factor * x[i] + i
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint kFactor = 3;
layout(push_constant, scalar) uniform Push {
  uint first_group;
  uint count;
  Words x;
  Words y;
};

void main() {
  const uint i = (gl_WorkGroupID.x + first_group) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (i < count) {
    y.at[i] = kFactor * x.at[i] + i;
  }
}
