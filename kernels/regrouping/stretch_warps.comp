// The number of warps of each stretch.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  StretchWarpsPush push;
};

void main() {
  const uint i = THREAD_NUMBER;
  if (i < push.stretches) {
    const uint threads = word_at(push.begin, i + 1) - word_at(push.begin, i);
    put_word(push.warps, i, threads / push.warp_size + (threads % push.warp_size != 0 ? 1 : 0));
  }
}
