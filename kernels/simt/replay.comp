// The replayer (MODELS.md §4): every subgroup replays a warp of the model, or several small ones, step by step.
//
// Bound by memory on a large GPU: a byte an event (two with more than 255 calls) in thread order, 16 bytes at a time
// and lane, and 4 + 16 bytes a thread; a step is some tens of instructions on registers.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/simt/layout.h"

layout(local_size_x = RR_SIMT_THREADS) in;
layout(constant_id = 0) const uint kSubgroup = 32;
layout(constant_id = 1) const uint kWarpSize = 32;
layout(constant_id = 2) const uint kChoice = RR_SIMT_MAJORITY;
layout(constant_id = 3) const uint kCodeBytes = 1;
layout(constant_id = 4) const uint kOutputs = 0;
layout(constant_id = 5) const uint kCounters = 256;
layout(push_constant, scalar) uniform Constants {
  ReplayPush push;
};

#include "kernels/simt/warp.glsl"
#include "kernels/simt/queue.glsl"
#include "kernels/simt/choose.glsl"
#include "kernels/simt/count.glsl"

void report_fault(uint fault) {
  atomicOr(Words(push.sums + 8 * (2 * uint64_t(push.calls) + RR_SIMT_LANE_COUNTS)).at[0], fault);
}

/// The queue of the piece at a place, and its rays.
void start_piece(uint k, uint64_t place) {
  start_empty(k);
  rays[k] = 0;
  const uint piece = Words(push.piece_at + 4 * place).at[0];
  if (piece == ~0u) {
    return;
  }
  if (piece >= push.pieces) {
    report_fault(RR_SIMT_UNKNOWN_PIECE);
    return;
  }
  const uint64_t begin = Longs(push.offsets + 8 * uint64_t(piece)).at[0];
  const uint64_t end = Longs(push.offsets + 8 * uint64_t(piece)).at[1];
  if (end - begin > RR_SIMT_MOST_ROWS) {
    report_fault(RR_SIMT_LONG_PIECE);
    return;
  }
  start_queue(k, begin, end);
  if ((kOutputs & RR_SIMT_DETAIL) != 0) {
    rays[k] = uint(Bytes(push.rays_before + piece).at[0]);
  }
}

void main() {
  for (uint i = gl_LocalInvocationID.x; i < kCounters; i += RR_SIMT_THREADS) {
    counters[i] = 0;
  }
  barrier();

  take_seat();
  const uint64_t subgroup =
      uint64_t(push.first_group + gl_WorkGroupID.x) * (RR_SIMT_THREADS / kSubgroup) + gl_SubgroupID;
  const uint64_t warp = subgroup * kSeats + seat;
  const bool seated = seat < kSeats && warp < push.warps;
  for (uint k = 0; k < kLanesEach; ++k) {
    if (seated && lane + k * kSubgroup < kWarpSize) {
      start_piece(k, warp * kWarpSize + lane + k * kSubgroup);
    } else {
      start_empty(k);
      rays[k] = 0;
    }
  }
  find_heads();
  start_choices();
  start_counts();

  // Counters grow by at most 64 a step and seat, with at most 128 seats in a workgroup.
  const uint kStepsBetweenFlushes = 1u << 17;
  uint steps = 0;
  for (;;) {
    uint code;
    Lanes lanes;
    choose(code, lanes);
    if (!subgroupAny(lanes != 0)) {
      break;
    }
    count_event(code, lanes);
    pop(lanes);
    note_popped(lanes);
    if (++steps % kStepsBetweenFlushes == 0) {
      flush(gl_SubgroupInvocationID, kSubgroup);
    }
  }
  if (seated) {
    store_counts(warp);
  }
  barrier();
  flush(gl_LocalInvocationID.x, RR_SIMT_THREADS);
}
