// The maximum of a byte array.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  WidestPush push;
};

void main() {
  uint most = 0;
  const uint begin = GROUP_NUMBER * kPlacesAGroup + gl_LocalInvocationID.x;
  for (uint i = 0; i < kPlacesAGroup; i += kGroup) {
    if (begin + i < push.count) {
      most = max(most, byte_at(push.bytes, begin + i));
    }
  }
  most = subgroupMax(most);
  if (subgroupElect() && most > word_at(push.most, 0)) {
    atomicMax(Words(push.most).at[0], most);
  }
}
