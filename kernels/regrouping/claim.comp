// The continued warps: every new warp, in order, takes the earlier warp that gives it most threads among those not yet
// taken.
//
// The result is the one stable matching in which every earlier warp prefers the lowest new warp (Gale and Shapley,
// American Mathematical Monthly 1962); deferred acceptance finds it for any order of proposals. A refused warp proposes
// to the next on its list, by the invocation that refused it (McVitie and Wilson, Communications of the ACM 1971). No
// invocation waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/claims.glsl"

void main() {
  uint warp = THREAD_NUMBER;
  if (warp >= push.formed) {
    return;
  }
  uint begin = start_of(warp);
  uint end = begin + fill_of(warp, begin);
  for (uint i = begin; i < end;) {
    const uint its = word_at(push.givers, i);
    if (its == 0) {
      return;
    }
    const uint holder = atomicMin(Words(push.claims + 4ul * giver(its)).at[0], warp);
    if (holder < warp) {
      ++i;
    } else if (holder == kNobody) {
      return;
    } else {
      warp = holder;
      begin = start_of(warp);
      end = begin + fill_of(warp, begin);
      i = begin;
      while (giver(word_at(push.givers, i)) != giver(its)) {
        ++i;
      }
      ++i;
    }
  }
}
