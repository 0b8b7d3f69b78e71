// The box of a ray's vectors over all threads.
//
// Contract: bounds holds ordered numbers: the least x, y, z (before: all ones), the greatest x, y, z (before: 0).
// One thread a list entry.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/packing/curve.glsl"

void main() {
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
    Words bounds = Words(push.bounds);
    for (uint axis = 0; axis < 3; ++axis) {
      // Most subgroups find nothing new.
      if (least[axis] < bounds.at[axis]) {
        atomicMin(bounds.at[axis], least[axis]);
      }
      if (greatest[axis] > bounds.at[3 + axis]) {
        atomicMax(bounds.at[3 + axis], greatest[axis]);
      }
    }
  }
}
