// The threads in the order in which their warps start, lanes ascending; and each thread's tile.
//
// Contract: by_start holds one entry per place, kNoThread for empty lanes. One thread per place.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/packing/packing.glsl"

layout(push_constant, scalar) uniform Push {
  PlacePush push;
};

void main() {
  const uint64_t place = item_number(push.first_group);
  if (place >= push.count) {
    return;
  }
  const uint64_t warp = place / push.warp_size;
  const uint64_t lane = place - warp * push.warp_size;
  const uint thread = word_at(push.thread_at, place).at[0];
  word_at(push.by_start, uint64_t(word_at(push.start_rank, warp).at[0]) * push.warp_size + lane).at[0] = thread;
  if (push.tile != 0 && thread != kNoThread) {
    word_at(push.tile_of, thread).at[0] = word_at(push.tile, warp).at[0];
  }
}
