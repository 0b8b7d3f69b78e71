// Sums of values by key (sum_by_key.hpp): a workgroup adds a range of items in its own table, then adds the table to
// the sums in memory.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#ifdef RR_INT64_ATOMICS
#extension GL_EXT_shader_atomic_int64 : require
#endif

layout(local_size_x = 256) in;

layout(constant_id = 0) const uint kValueWords = 0u;  ///< 0: every item counts 1; 1: 32-bit values; 2: 64-bit values
layout(constant_id = 1) const bool kAllKeys = false;  ///< the table holds all keys; else those it meets first

const uint kSlots = 2048u;
const uint kFree = 0xFFFFFFFFu;
const uint kLaneItems = 4u;  ///< read at once

layout(push_constant, scalar) uniform Push {
  uint first_group;
  uint key_count;
  uint64_t count;
  uint64_t group_items;  ///< a multiple of kLaneItems times the group's size
  uint64_t keys;
  uint64_t values;
  uint64_t sums;
};

shared uint tags[kSlots];
shared uint lows[kSlots];
shared uint highs[kSlots];

void add_to_memory(uint key, uint64_t value) {
#ifdef RR_INT64_ATOMICS
  atomicAdd(Longs(sums + 8ul * key).at[0], value);
#else
  // Each wrap of the low word is seen by the invocation that caused it, in any order.
  const uint low = uint(value);
  const uint old = atomicAdd(Words(sums + 8ul * key).at[0], low);
  const uint high = uint(value >> 32) + (old + low < old ? 1u : 0u);
  if (high != 0u) {
    atomicAdd(Words(sums + 8ul * key).at[1], high);
  }
#endif
}

void add_to_slot(uint slot, uint64_t value) {
  const uint low = uint(value);
  const uint old = atomicAdd(lows[slot], low);
  const uint high = uint(value >> 32) + (old + low < old ? 1u : 0u);
  if (high != 0u) {
    atomicAdd(highs[slot], high);
  }
}

void add(uint key, uint64_t value) {
  if (key >= key_count) {
    return;
  }
  if (kAllKeys) {
    add_to_slot(key, value);
    return;
  }
  const uint slot = (key * 0x9E3779B1u) >> 21;
  uint tag = tags[slot];
  if (tag == kFree) {
    tag = atomicCompSwap(tags[slot], kFree, key);
  }
  if (tag == kFree || tag == key) {
    add_to_slot(slot, value);
  } else {
    add_to_memory(key, value);
  }
}

uint64_t value_at(uint64_t item) {
  return kValueWords == 0u ? 1ul
                           : (kValueWords == 1u ? uint64_t(Words(values + 4ul * item).at[0])
                                                : Longs(values + 8ul * item).at[0]);
}

uint64_t subgroup_sum(uint64_t value) {
  for (uint far = gl_SubgroupSize / 2u; far > 0u; far /= 2u) {
    const uvec2 words = unpackUint2x32(value);
    value += packUint2x32(uvec2(subgroupShuffleXor(words.x, far), subgroupShuffleXor(words.y, far)));
  }
  return value;
}

// Four items; those beyond the end get an ignored key.
void load(uint64_t item, uint64_t end, out uint key[4], out uint64_t value[4]) {
  if (item + kLaneItems <= end) {
    const uvec4 four = Quads(keys + 4ul * item).at[0];
    key = uint[4](four.x, four.y, four.z, four.w);
    if (kValueWords == 1u) {
      const uvec4 v = Quads(values + 4ul * item).at[0];
      value = uint64_t[4](v.x, v.y, v.z, v.w);
    } else if (kValueWords == 2u) {
      const uvec4 v = Quads(values + 8ul * item).at[0];
      const uvec4 w = Quads(values + 8ul * item).at[1];
      value = uint64_t[4](packUint2x32(v.xy), packUint2x32(v.zw), packUint2x32(w.xy), packUint2x32(w.zw));
    } else {
      value = uint64_t[4](1ul, 1ul, 1ul, 1ul);
    }
    return;
  }
  for (uint k = 0u; k < kLaneItems; ++k) {
    key[k] = item + k < end ? Words(keys + 4ul * (item + k)).at[0] : kFree;
    value[k] = item + k < end ? value_at(item + k) : 0ul;
  }
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
  for (uint slot = lane; slot < kSlots; slot += gl_WorkGroupSize.x) {
    tags[slot] = kFree;
    lows[slot] = 0u;
    highs[slot] = 0u;
  }
  barrier();
  const uint64_t begin = group_items * uint64_t(gl_WorkGroupID.x + first_group);
  const uint64_t end = min(begin + group_items, count);
  for (uint64_t base = begin; base < end; base += kLaneItems * gl_WorkGroupSize.x) {
    uint key[4];
    uint64_t value[4];
    load(base + kLaneItems * lane, end, key, value);
    // Neighbours with the same key become one item.
    uint run = key[0];
    uint64_t sum = value[0];
    for (uint k = 1u; k < kLaneItems; ++k) {
      if (key[k] != run) {
        add(run, sum);
        run = key[k];
        sum = 0ul;
      }
      sum += value[k];
    }
    if (subgroupAllEqual(run)) {
      const uint64_t whole = subgroup_sum(sum);
      if (subgroupElect()) {
        add(run, whole);
      }
    } else {
      add(run, sum);
    }
  }
  barrier();
  for (uint slot = lane; slot < kSlots; slot += gl_WorkGroupSize.x) {
    const uint key = kAllKeys ? slot : tags[slot];
    const uint64_t sum = packUint2x32(uvec2(lows[slot], highs[slot]));
    if (key < key_count && sum != 0ul) {
      add_to_memory(key, sum);
    }
  }
}
