// Shared by the packings' kernels: one thread per item, and arrays with more than 2^31 entries.
#include "kernels/shaders/common.glsl"
#include "kernels/packing/packing_types.h"

layout(local_size_x = 256) in;

const uint kNoThread = 0xFFFFFFFFu;

// Event kinds (capture/trace/trace.hpp).
const uint kIntersection = 2;
const uint kAnyHit = 4;
const uint kMiss = 7;
const uint kClosestHit = 8;

/// Shader access chains take an index as signed: the address takes large ones.
uint byte_at(uint64_t array, uint64_t index) {
  return uint(Bytes(array + index).at[0]);
}
uint half_at(uint64_t array, uint64_t index) {
  return uint(Halves(array + index * 2).at[0]);
}
Words word_at(uint64_t array, uint64_t index) {
  return Words(array + index * 4);
}
Longs long_at(uint64_t array, uint64_t index) {
  return Longs(array + index * 8);
}

uint64_t item_number(uint first_group) {
  return uint64_t(gl_WorkGroupID.x + first_group) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
}
