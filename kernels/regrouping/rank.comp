// Ranks of keys: after a sort of all segments, the number of each segment's stretch.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  RankPush push;
};

void main() {
  const uint i = THREAD_NUMBER;
  if (i < push.count) {
    put_long(push.ranks, word_at(push.segments, i), word_at(push.number, i) + word_at(push.flags, i) - 1);
  }
}
