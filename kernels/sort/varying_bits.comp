// The bits in which keys differ.
//
// Contract: ones[0], ones[1] gather the bits set in some key, ones[2], ones[3] those clear in some key (low words
// first); all start at 0. `groups` workgroups divide the keys; reads every key once.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/sort/sort_types.h"

layout(local_size_x = 256) in;
layout(push_constant, scalar) uniform Push {
  VaryingPush push;
};

shared uint gathered[4];

void main() {
  if (gl_LocalInvocationIndex < 4) {
    gathered[gl_LocalInvocationIndex] = 0;
  }
  barrier();
  const uint64_t step = uint64_t(push.groups) * 256;
  uvec4 seen = uvec4(0);
  for (uint64_t i = uint64_t(gl_WorkGroupID.x + push.first_group) * 256 + gl_LocalInvocationIndex; i < push.count;
       i += step) {
#ifdef KEY64
    const uvec2 key = unpack32(Longs(push.keys + i * 8).at[0]);
    seen |= uvec4(key, ~key);
#else
    const uint key = Words(push.keys + i * 4).at[0];
    seen |= uvec4(key, 0, ~key, 0);
#endif
  }
  seen = subgroupOr(seen);
  if (subgroupElect()) {
    for (uint word = 0; word < 4; ++word) {
      atomicOr(gathered[word], seen[word]);
    }
  }
  barrier();
  // One atomic per workgroup: all add to the same four words.
  if (gl_LocalInvocationIndex < 4) {
    atomicOr(Words(push.ones).at[gl_LocalInvocationIndex], gathered[gl_LocalInvocationIndex]);
  }
}
