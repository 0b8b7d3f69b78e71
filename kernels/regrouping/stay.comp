// In unchanged units threads keep warp and lane; warps without threads are dropped.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  StayPush push;
};

void main() {
  const uint place = THREAD_NUMBER;
  if (place >= push.places) {
    return;
  }
  const uint warp = place / push.warp_size;
  const uint lane = place - warp * push.warp_size;
  const uint unit = push.unit != 0 ? word_at(push.unit, warp) : 0;
  const uint before = word_at(push.living_rank, warp);
  if (word_at(push.stays, unit) == 0 || word_at(push.living_rank, warp + 1) == before) {
    return;
  }
  const uint to = word_at(push.out_begin, unit) + before - word_at(push.living_rank, word_at(push.begin, unit));
  const uint segment = bit_at(push.waiting, place) ? word_at(push.segment_at, place) + 1 : kNobody;
  put_word(push.out_segment_at, to * push.warp_size + lane, segment);
  if (lane == 0) {
    put_word(push.out_moved, to, 0);
    if (push.out_unit != 0) {
      put_word(push.out_unit, to, unit);
    }
  }
}
