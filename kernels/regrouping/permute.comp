// Reorders from rounds of all units to units with their rounds.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  PermutePush push;
};

void main() {
  const uint place = THREAD_NUMBER;
  if (place >= push.places) {
    return;
  }
  const uint warp = place / push.warp_size;
  const uint lane = place - warp * push.warp_size;
  const uint unit = word_at(push.unit, warp);
  const uint to = word_at(push.to, unit) + (warp - word_at(push.begin, unit));
  Words(push.out_segment_at + 4ul * (uint64_t(to) * push.warp_size + lane)).at[0] = word_at(push.segment_at, place);
  if (lane == 0) {
    put_word(push.out_moved, to, word_at(push.moved, warp));
  }
}
