// The beginning of each stretch.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/stretch.glsl"

void main() {
  const uint i = THREAD_NUMBER;
  if (i < push.count && word_at(push.flags, i) != 0) {
    put_word(push.begin, word_at(push.number, i), i);
  }
}
