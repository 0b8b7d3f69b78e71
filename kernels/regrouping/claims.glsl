// The new warps and the lists of their givers (earlier warps that give threads), as written by form.comp.
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  ClaimPush push;
};

uint start_of(uint warp) {
  return push.warp_start != 0 ? word_at(push.warp_start, warp) : warp * push.warp_size;
}
uint fill_of(uint warp, uint start) {
  return push.warp_start != 0 ? word_at(push.warp_fill, warp) : min(push.warp_size, push.waiting - start);
}
/// The earlier warp of a list entry: inverted in the low 26 bits, so that of equal numbers of threads the lowest warp is
/// the greatest entry.
uint giver(uint entry) {
  return 0x3FFFFFFu - (entry & 0x3FFFFFFu);
}
/// The number of threads that it gives.
uint given(uint entry) {
  return (entry >> 26) + 1;
}
