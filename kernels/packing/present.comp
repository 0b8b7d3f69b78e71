// Occupied places: to[i] is 1 if from[i] is a thread, else 0.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/packing/packing.glsl"

layout(push_constant, scalar) uniform Push {
  ListPush push;
};

void main() {
  const uint64_t i = item_number(push.first_group);
  if (i < push.count) {
    word_at(push.to, i).at[0] = word_at(push.from, i).at[0] != kNoThread ? 1 : 0;
  }
}
