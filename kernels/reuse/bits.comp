// counts[w]: number of set bits of word w.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/reuse/arguments.h"

layout(local_size_x = RR_REUSE_THREADS) in;
layout(push_constant, scalar) uniform Push {
  BitsArguments arguments;
};

void main() {
  const uint word = (gl_WorkGroupID.x + arguments.first_group) * RR_REUSE_THREADS + gl_LocalInvocationIndex;
  if (word < arguments.words) {
    Words(arguments.counts).at[word] = bitCount(Words(arguments.bits).at[word]);
  }
}
