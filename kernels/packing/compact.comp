// Removes the empty places from a list of threads: thread from[i] goes to to[with[i]], where `with` holds the exclusive
// sums of present.comp.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/packing/packing.glsl"

layout(push_constant, scalar) uniform Push {
  ListPush push;
};

void main() {
  const uint64_t i = item_number(push.first_group);
  if (i < push.count) {
    const uint thread = word_at(push.from, i).at[0];
    if (thread != kNoThread) {
      word_at(push.to, word_at(push.with, i).at[0]).at[0] = thread;
    }
  }
}
