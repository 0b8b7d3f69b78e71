// 0, 1, 2, …
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  IotaPush push;
};

void main() {
  const uint i = THREAD_NUMBER;
  if (i < push.count) {
    put_word(push.words, i, i);
  }
}
