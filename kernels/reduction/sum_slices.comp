// Sums over a launch's slices (pixel_sums.hpp): an invocation is one number of a slice.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"

layout(local_size_x = 256) in;

layout(push_constant, scalar) uniform Push {
  uint first_group;
  uint depth;
  uint64_t width;   ///< numbers of a slice
  uint64_t values;  ///< slice after slice
  uint64_t sums;
};

void main() {
  const uint64_t place = uint64_t(gl_WorkGroupID.x + first_group) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (place >= width) {
    return;
  }
  uint64_t sum = 0ul;
  for (uint slice = 0u; slice < depth; ++slice) {
    sum += Longs(values + 8ul * (slice * width + place)).at[0];
  }
  Longs(sums + 8ul * place).at[0] = sum;
}
