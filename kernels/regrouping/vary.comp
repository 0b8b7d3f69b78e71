// The varying bits of the keys of all segments but their threads' first.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  VaryPush push;
};

void main() {
  uvec2 any = uvec2(0);
  uvec2 all = uvec2(0xFFFFFFFFu);
  const uint begin = GROUP_NUMBER * kPlacesAGroup + gl_LocalInvocationID.x;
  for (uint i = 0; i < kPlacesAGroup; i += kGroup) {
    if (begin + i < push.count && !bit_at(push.starts, begin + i)) {
      const uvec2 key = unpack32(long_at(push.keys, begin + i));
      any |= key;
      all &= key;
    }
  }
  any = subgroupOr(any);
  all = subgroupAnd(all);
  if (subgroupElect()) {
    // Most invocations find no new bits and skip the atomic on the shared word.
    for (uint i = 0; i < 2; ++i) {
      if ((any[i] & ~word_at(push.masks, i)) != 0) {
        atomicOr(Words(push.masks + 4ul * i).at[0], any[i]);
      }
      if ((~all[i] & word_at(push.masks, 2 + i)) != 0) {
        atomicAnd(Words(push.masks + 4ul * (2 + i)).at[0], all[i]);
      }
    }
  }
}
