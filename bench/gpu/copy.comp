#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"

// Copies 16 bytes a thread: what the device's memory can do.
layout(local_size_x = 256) in;
layout(push_constant, scalar) uniform Push {
  uint first_group;
  uint count;
  Quads from;
  Quads to;
};

void main() {
  const uint i = (gl_WorkGroupID.x + first_group) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (i < count) {
    to.at[i] = from.at[i];
  }
}
