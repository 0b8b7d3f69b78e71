// The first round: the launch order, every thread with its first segment.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  OpenPush push;
};

void main() {
  const uint place = THREAD_NUMBER;
  if (place >= push.places) {
    return;
  }
  const uint warp = place / push.warp_size;
  const uint thread = word_at(push.thread_at, word_at(push.warps, warp) * push.warp_size + place % push.warp_size);
  uint segment = kNobody;
  if (thread != kNobody) {
    const uint first = word_at(push.first, thread);
    segment = first == word_at(push.first, thread + 1) ? kNobody : first;
  }
  put_word(push.segment_at, place, segment);
}
