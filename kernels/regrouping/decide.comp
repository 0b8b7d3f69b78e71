// Units that would not save warps by regrouping stay unchanged.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  DecidePush push;
};

void main() {
  const uint unit = THREAD_NUMBER;
  if (unit < push.units) {
    const uint formed = word_at(push.formed, unit);
    const uint living = word_at(push.living_rank, word_at(push.begin, unit + 1)) -
                        word_at(push.living_rank, word_at(push.begin, unit));
    put_word(push.stays, unit, formed >= living ? 1 : 0);
    put_word(push.warps, unit, min(formed, living));
  }
}
