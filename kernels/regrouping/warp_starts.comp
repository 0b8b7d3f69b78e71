// For each new warp: its beginning among the sorted threads, size and unit; and the number of new warps of each unit.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/stretch.glsl"

void main() {
  const uint i = THREAD_NUMBER;
  if (i >= push.count) {
    return;
  }
  const uint stretch = word_at(push.number, i) + word_at(push.flags, i) - 1;
  const uint in_stretch = i - word_at(push.begin, stretch);
  if (in_stretch % push.warp_size != 0) {
    return;
  }
  const uint warp = word_at(push.warps_before, stretch) + in_stretch / push.warp_size;
  put_word(push.warp_start, warp, i);
  put_word(push.warp_fill, warp, min(push.warp_size, word_at(push.begin, stretch + 1) - i));
  if (push.warp_unit != 0) {
    const uint unit = uint(above(key_at(i), push.key_bits));
    put_word(push.warp_unit, warp, unit);
    atomicAdd(Words(push.unit_formed + 4ul * unit).at[0], 1);
  }
}
