// Elements of arrays by address, for all 32-bit indices: access chains take them as signed.
#include "kernels/shaders/common.glsl"
#include "kernels/regrouping/shared.h"

uint byte_at(uint64_t array, uint i) {
  return uint(Bytes(array + i).at[0]);
}
uint half_at(uint64_t array, uint i) {
  return uint(Halves(array + 2ul * i).at[0]);
}
uint word_at(uint64_t array, uint i) {
  return Words(array + 4ul * i).at[0];
}
uint64_t long_at(uint64_t array, uint i) {
  return Longs(array + 8ul * i).at[0];
}
void put_word(uint64_t array, uint i, uint value) {
  Words(array + 4ul * i).at[0] = value;
}
void put_long(uint64_t array, uint i, uint64_t value) {
  Longs(array + 8ul * i).at[0] = value;
}
bool bit_at(uint64_t array, uint i) {
  return (word_at(array, i >> 5) >> (i & 31) & 1) != 0;
}

/// Numbers of the workgroup and of the invocation in the whole launch.
#define GROUP_NUMBER (gl_WorkGroupID.x + push.first_group)
#define THREAD_NUMBER (GROUP_NUMBER * kGroup + gl_LocalInvocationID.x)
