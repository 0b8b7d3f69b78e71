// The continuing threads in order of their places. The first pass marks and counts them by block; the second writes
// their keys and places behind those of earlier blocks.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  GatherPush push;
};

const uint kWords = kPlacesAGroup / 32;
shared uint marks[kWords];
shared uint before[kWords];

uint lowest_bit(uint64_t mask) {
  const uvec2 halves = unpack32(mask);
  return halves.x != 0 ? uint(findLSB(halves.x)) : 32 + uint(findLSB(halves.y));
}

/// The bits of `key` in `mask`, compacted.
uint64_t closed_up(uint64_t key, uint64_t mask) {
  uint64_t result = 0;
  uint to = 0;
  for (uint shift = 0; mask != 0;) {
    const uint zeros = lowest_bit(mask);
    mask >>= zeros;
    shift += zeros;
    const uint ones = ~mask == 0 ? 64 : lowest_bit(~mask);
    const uint64_t part = ones == 64 ? ~0ul : (1ul << ones) - 1;
    result |= (key >> shift & part) << to;
    to += ones;
    shift += ones;
    mask = ones == 64 ? 0 : mask >> ones;
  }
  return result;
}

void main() {
  const uint block = GROUP_NUMBER;
  const uint lane = gl_LocalInvocationID.x;
  if ((push.flags & kGatherWrite) == 0) {
    if (lane < kWords) {
      marks[lane] = 0;
    }
    barrier();
    for (uint i = lane; i < kPlacesAGroup; i += kGroup) {
      const uint place = block * kPlacesAGroup + i;
      // An empty lane leads to segment 0, a first segment: it counts as no continuation.
      if (place < push.places && !bit_at(push.starts, word_at(push.segment_at, place) + 1)) {
        atomicOr(marks[i >> 5], 1u << (i & 31));
      }
    }
    barrier();
    if (lane < kWords) {
      put_word(push.waiting, block * kWords + lane, marks[lane]);
    }
    if (lane == 0) {
      uint sum = 0;
      for (uint i = 0; i < kWords; ++i) {
        sum += bitCount(marks[i]);
      }
      put_word(push.blocks, block, sum);
    }
    return;
  }
  if (lane < kWords) {
    marks[lane] = word_at(push.waiting, block * kWords + lane);
  }
  barrier();
  if (lane < kWords) {
    uint sum = word_at(push.blocks, block);
    for (uint i = 0; i < lane; ++i) {
      sum += bitCount(marks[i]);
    }
    before[lane] = sum;
  }
  barrier();
  for (uint i = lane; i < kPlacesAGroup; i += kGroup) {
    const uint mark = marks[i >> 5];
    if ((mark >> (i & 31) & 1) == 0) {
      continue;
    }
    const uint to = before[i >> 5] + bitCount(mark & ((1u << (i & 31)) - 1));
    const uint place = block * kPlacesAGroup + i;
    const uint warp = place / push.warp_size;
    put_word(push.out_places, to, warp << 6 | (place - warp * push.warp_size));
    if ((push.flags & kGatherKeys) != 0) {
      uint64_t key = 0;
      if (push.key_mask != 0) {
        key = closed_up(long_at(push.keys, word_at(push.segment_at, place) + 1), push.key_mask);
      }
      if (push.unit != 0) {
        key |= uint64_t(word_at(push.unit, warp)) << push.key_bits;
      }
      if ((push.flags & kGatherWide) != 0) {
        put_long(push.out_keys, to, key);
      } else {
        put_word(push.out_keys, to, uint(key));
      }
    }
  }
}
