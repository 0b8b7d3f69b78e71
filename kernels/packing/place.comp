// The swizzle: the i-th place's thread, with[i], takes the work of the i-th sorted one, from[i].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/packing/packing.glsl"

layout(push_constant, scalar) uniform Push {
  ListPush push;
};

void main() {
  const uint64_t i = item_number(push.first_group);
  if (i < push.count) {
    word_at(push.to, word_at(push.with, i).at[0]).at[0] = word_at(push.from, i).at[0];
  }
}
