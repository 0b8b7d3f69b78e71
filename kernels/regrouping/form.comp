// Warps of sorted threads (scheduler-models/regrouping/warp_former.hpp): a thread keeps its lane unless an earlier
// thread of the warp has taken it; the others fill free lanes in ascending order. Also lists the earlier warps that
// give threads, most threads first, ties to the lowest. One invocation per thread and lane; a warp takes 2^log_lanes of
// them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  FormPush push;
};

shared uint owner[kGroup];     // by lane: the first thread that ran there
shared uint segment_of[kGroup];  // by thread
shared uint earlier[kGroup];   // by thread: its warp
shared uint homeless[kGroup];  // segments without a lane, in order
shared uint score[kGroup];     // by thread: of its earlier warp, if it is the first from there, else 0
shared uint sorted[kGroup];    // scores, greatest first
shared uvec2 taken[kGroup];    // by warp: lanes that are kept
shared uvec2 moving[kGroup];   // by warp: threads that are not in their lane

uint count_below(uvec2 mask, uint bit) {
  const uint low = bit < 32 ? (1u << bit) - 1 : 0xFFFFFFFFu;
  const uint high = bit > 32 ? (1u << (bit - 32)) - 1 : 0;
  return bitCount(mask.x & low) + bitCount(mask.y & high);
}

void main() {
  const uint local = gl_LocalInvocationID.x;
  const uint slot = local >> push.log_lanes;
  const uint base = slot << push.log_lanes;
  const uint t = local - base;
  const uint warp = (GROUP_NUMBER << (8 - push.log_lanes)) + slot;
  uint start = 0;
  uint size = 0;
  if (warp < push.formed) {
    start = push.warp_start != 0 ? word_at(push.warp_start, warp) : warp * push.warp_size;
    size = push.warp_start != 0 ? word_at(push.warp_fill, warp) : min(push.warp_size, push.waiting - start);
  }
  const bool stands = t < size;
  owner[local] = kNobody;
  sorted[local] = 0;
  if (t == 0) {
    taken[slot] = uvec2(0);
    moving[slot] = uvec2(0);
  }
  barrier();
  uint from = 0;
  uint lane = 0;
  if (stands) {
    const uint place = word_at(push.places, start + t);
    from = place >> 6;
    lane = place & 63;
    earlier[local] = from;
    segment_of[local] = Words(push.segment_at + 4ul * (uint64_t(from) * push.warp_size + lane)).at[0] + 1;
    if (push.keep_lanes != 0) {
      atomicMin(owner[base + lane], t);
    }
  }
  barrier();
  const bool keeps = stands && push.keep_lanes != 0 && owner[base + lane] == t;
  if (keeps) {
    if (lane < 32) {
      atomicOr(taken[slot].x, 1u << lane);
    } else {
      atomicOr(taken[slot].y, 1u << (lane - 32));
    }
  } else if (stands) {
    if (t < 32) {
      atomicOr(moving[slot].x, 1u << t);
    } else {
      atomicOr(moving[slot].y, 1u << (t - 32));
    }
  }
  uint given = 0;
  bool first = stands;
  for (uint j = 0; j < size; ++j) {
    const bool same = earlier[base + j] == from;
    given += same ? 1 : 0;
    first = first && !(same && j < t);
  }
  const uint its = first ? (given - 1) << 26 | (0x3FFFFFFu - from) : 0;
  score[local] = its;
  barrier();
  if (stands && !keeps) {
    homeless[base + count_below(moving[slot], t)] = segment_of[local];
  }
  if (first) {
    uint rank = 0;
    for (uint j = 0; j < size; ++j) {
      rank += score[base + j] > its ? 1 : 0;
    }
    sorted[base + rank] = its;
  }
  barrier();
  if (stands) {
    put_word(push.givers, start + t, sorted[local]);
  }
  if (warp >= push.formed || t >= push.warp_size) {
    return;
  }
  const uint unit = push.warp_unit != 0 ? word_at(push.warp_unit, warp) : 0;
  uint to = warp;
  if (push.stays != 0) {
    if (word_at(push.stays, unit) != 0) {
      return;
    }
    to = word_at(push.out_begin, unit) + (warp - word_at(push.formed_begin, unit));
  }
  uint segment = kNobody;
  if (owner[base + t] != kNobody) {
    segment = segment_of[base + owner[base + t]];
  } else {
    const uint free = t - count_below(taken[slot], t);
    if (free < bitCount(moving[slot].x) + bitCount(moving[slot].y)) {
      segment = homeless[base + free];
    }
  }
  put_word(push.out_segment_at, to * push.warp_size + t, segment);
  if (t == 0 && push.out_unit != 0) {
    put_word(push.out_unit, to, unit);
  }
}
