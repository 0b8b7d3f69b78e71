// The box of a ray's vectors over all threads.
//
// Contract: bounds holds ordered numbers: the least x, y, z (before: all ones), the greatest x, y, z (before: 0).
// One thread a list entry.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/packing/curve.glsl"

shared uint box[6];

void main() {
  if (gl_LocalInvocationIndex < 6) {
    box[gl_LocalInvocationIndex] = gl_LocalInvocationIndex < 3 ? 0xFFFFFFFFu : 0;
  }
  barrier();
  const uint64_t i = item_number(push.first_group);
  uvec3 least = uvec3(0xFFFFFFFFu);
  uvec3 greatest = uvec3(0);
  if (i < push.count) {
    uvec3 bits;
    if (vector_of(word_at(push.threads, i).at[0], bits)) {
      least = uvec3(ordered(bits.x), ordered(bits.y), ordered(bits.z));
      greatest = least;
    }
  }
  least = subgroupMin(least);
  greatest = subgroupMax(greatest);
  if (subgroupElect()) {
    for (uint axis = 0; axis < 3; ++axis) {
      atomicMin(box[axis], least[axis]);
      atomicMax(box[3 + axis], greatest[axis]);
    }
  }
  barrier();
  // One atomic per workgroup: all add to the same six words.
  if (gl_LocalInvocationIndex < 3) {
    atomicMin(Words(push.bounds).at[gl_LocalInvocationIndex], box[gl_LocalInvocationIndex]);
  } else if (gl_LocalInvocationIndex < 6) {
    atomicMax(Words(push.bounds).at[gl_LocalInvocationIndex], box[gl_LocalInvocationIndex]);
  }
}
