// The greatest entry of a column.
//
// Contract: *to becomes the greatest of its value and entries [first, first + count) of a column of 16-bit (HALVES) or
// 32-bit numbers. `groups` workgroups divide the entries; every entry is read once.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/packing/packing.glsl"

layout(push_constant, scalar) uniform Push {
  EventPush push;
};

void main() {
  const uint64_t step = uint64_t(push.groups) * gl_WorkGroupSize.x;
  uint most = 0;
  for (uint64_t quad = item_number(push.first_group); quad * 4 < push.count; quad += step) {
    const uint64_t i = push.first + quad * 4;
    if (quad * 4 + 4 <= push.count) {
#ifdef HALVES
      const uvec2 words = uvec2(word_at(push.kinds, i / 2).at[0], word_at(push.kinds, i / 2).at[1]);
      const uvec2 greater = max(words & 0xFFFFu, words >> 16);
      most = max(most, max(greater.x, greater.y));
#else
      const uvec4 words = Quads(push.kinds + i * 4).at[0];
      most = max(most, max(max(words.x, words.y), max(words.z, words.w)));
#endif
    } else {
      for (uint64_t last = quad * 4; last < push.count; ++last) {
#ifdef HALVES
        most = max(most, half_at(push.kinds, push.first + last));
#else
        most = max(most, word_at(push.kinds, push.first + last).at[0]);
#endif
      }
    }
  }
  most = subgroupMax(most);
  if (subgroupElect() && most != 0) {
    atomicMax(Words(push.to).at[0], most);
  }
}
