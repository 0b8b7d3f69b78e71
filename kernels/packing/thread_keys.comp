// Keys of threads that need no arithmetic.
//
// Contract: specialization constant 0 says which: 0 the number of rays, 1 the shader of the first ClosestHit or Miss
// event (0x10000, above every id, without one), 2 output `thread` of SplitMix64 (base/split_mix.hpp), 3 the tile
// (32-bit keys). One thread a list entry; keys in the order of the list.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/packing/packing.glsl"

layout(constant_id = 0) const uint kWhich = 0;
const uint kRayCount = 0;
const uint kFirstHit = 1;
const uint kRandom = 2;

layout(push_constant, scalar) uniform Push {
  KeyPush push;
};

uint64_t split_mix(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ul;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ul;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBul;
  return z ^ (z >> 31);
}

uint64_t first_hit(uint thread) {
  const uint64_t end = long_at(push.offset, uint64_t(thread) + 1).at[0];
  for (uint64_t row = long_at(push.offset, thread).at[0]; row < end; ++row) {
    const uint kind = byte_at(push.x, row);
    if (kind == kClosestHit || kind == kMiss) {
      return half_at(push.y, row);
    }
  }
  return 0x10000;
}

void main() {
  const uint64_t i = item_number(push.first_group);
  if (i >= push.count) {
    return;
  }
  const uint thread = word_at(push.threads, i).at[0];
  if (kWhich == kRayCount) {
    long_at(push.keys, i).at[0] =
        long_at(push.offset, uint64_t(thread) + 1).at[0] - long_at(push.offset, thread).at[0];
  } else if (kWhich == kFirstHit) {
    long_at(push.keys, i).at[0] = first_hit(thread);
  } else if (kWhich == kRandom) {
    long_at(push.keys, i).at[0] = split_mix(push.number, thread);
  } else {
    word_at(push.keys, i).at[0] = word_at(push.x, thread).at[0];
  }
}
