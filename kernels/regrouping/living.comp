// Marks warps with a continuing thread.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  LivingPush push;
};

void main() {
  const uint warp = THREAD_NUMBER;
  if (warp < push.warps) {
    bool any = false;
    for (uint lane = 0; lane < push.warp_size && !any; ++lane) {
      any = bit_at(push.waiting, warp * push.warp_size + lane);
    }
    put_word(push.lives, warp, any ? 1 : 0);
  }
}
