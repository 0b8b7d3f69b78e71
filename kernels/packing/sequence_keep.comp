// The list of threads that are still tied, in order, with their places and group numbers.
//
// Contract: keep_sums and head_sums are the exclusive sums of sequence_split's output. One thread per list entry.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/packing/packing.glsl"

layout(push_constant, scalar) uniform Push {
  TiePush push;
};

void main() {
  const uint64_t j = item_number(push.first_group);
  if (j >= push.count || word_at(push.keep, j).at[0] == 0) {
    return;
  }
  const uint64_t to = word_at(push.keep_sums, j).at[0];
  word_at(push.to_threads, to).at[0] = word_at(push.threads, j).at[0];
  word_at(push.to_slots, to).at[0] = push.slots != 0 ? word_at(push.slots, j).at[0] : uint(j);
  // Groups are numbered from 0 by their heads; this thread's head is the last one so far.
  word_at(push.to_group_of, to).at[0] = word_at(push.head_sums, j).at[0] + word_at(push.heads, j).at[0] - 1;
}
