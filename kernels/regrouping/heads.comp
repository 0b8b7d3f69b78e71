// Marks the threads, in sorted order, that begin a stretch.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/stretch.glsl"

void main() {
  const uint i = THREAD_NUMBER;
  if (i < push.count) {
    put_word(push.flags, i, begins_stretch(i) ? 1 : 0);
  }
}
