// Moved threads of each warp: all except those of the earlier warp that it continues.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/claims.glsl"

void main() {
  const uint warp = THREAD_NUMBER;
  if (warp >= push.formed) {
    return;
  }
  uint to = warp;
  if (push.stays != 0) {
    const uint unit = push.warp_unit != 0 ? word_at(push.warp_unit, warp) : 0;
    if (word_at(push.stays, unit) != 0) {
      return;
    }
    to = word_at(push.out_begin, unit) + (warp - word_at(push.formed_begin, unit));
  }
  const uint begin = start_of(warp);
  const uint size = fill_of(warp, begin);
  uint moved = size;
  for (uint i = begin; i < begin + size; ++i) {
    const uint its = word_at(push.givers, i);
    if (its == 0) {
      break;
    }
    if (word_at(push.claims, giver(its)) == warp) {
      moved = size - given(its);
      break;
    }
  }
  put_word(push.out_moved, to, moved);
}
