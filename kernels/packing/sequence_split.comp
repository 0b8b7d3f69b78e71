// Writes threads sorted by another word to their places, and marks those that are still tied.
//
// Contract: the j-th thread goes to list[slots[j]]. keep[j] is 1 if a neighbour has the same key and the sequence
// continues behind this word; heads[j] is 1 for the first of these with its key. One thread per list entry.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/packing/packing.glsl"

layout(push_constant, scalar) uniform Push {
  TiePush push;
};

void main() {
  const uint64_t j = item_number(push.first_group);
  if (j >= push.count) {
    return;
  }
  const uint64_t slot = push.slots != 0 ? uint64_t(word_at(push.slots, j).at[0]) : j;
  word_at(push.list, slot).at[0] = word_at(push.threads, j).at[0];
  const uint64_t key = long_at(push.keys, j).at[0];
  const bool same_before = j > 0 && long_at(push.keys, j - 1).at[0] == key;
  const bool same_after = j + 1 < push.count && long_at(push.keys, j + 1).at[0] == key;
  const bool goes_on = (key & ((1ul << push.symbol_bits) - 1)) != push.end_symbol;
  const bool keep = (same_before || same_after) && goes_on;
  word_at(push.keep, j).at[0] = keep ? 1 : 0;
  word_at(push.heads, j).at[0] = keep && !same_before ? 1 : 0;
}
