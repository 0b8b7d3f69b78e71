// The next word of each thread's sequence, behind the number of its group.
//
// Contract: specialization constant 0 selects the sequence: 0 calls, numbered from 1 by the table `second` (entry kind
// · shaders + shader; 0: no call), 1 objects as one symbol (instance << primitive_bits | primitive), 2 objects as two
// symbols, instance and primitive. A word holds `symbols` symbols of symbol_bits bits, first symbol on top. Calls are
// padded with zeros, below every number; objects with ones, above every object. The key is group << (symbols ·
// symbol_bits) | word, 64 bits at most. Tied threads are at the same position of their sequences and end together. One
// thread per list entry.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/packing/packing.glsl"

layout(constant_id = 0) const uint kWhich = 0;
const uint kCalls = 0;
const uint kObjects = 1;

layout(push_constant, scalar) uniform Push {
  WordPush push;
};

uint64_t ones(uint bits) {
  return bits < 64 ? (1ul << bits) - 1 : ~0ul;
}
uint64_t shifted(uint64_t word, uint bits) {
  return bits < 64 ? word << bits : 0ul;
}

uint64_t calls(inout uint64_t row, uint64_t end) {
  uint64_t word = 0;
  uint left = push.symbols;
  for (; row < end && left > 0; ++row) {
    const uint call = byte_at(push.kinds, row) * push.shaders + half_at(push.first, row);
    const uint number = word_at(push.second, call).at[0];
    if (number != 0) {
      word = word << push.symbol_bits | number;
      --left;
    }
  }
  return shifted(word, left * push.symbol_bits);
}

uint64_t objects(inout uint64_t row, inout bool primitive_is_due, uint64_t end) {
  uint64_t word = 0;
  uint left = push.symbols;
  while (left > 0) {
    if (primitive_is_due) {
      word = word << push.symbol_bits | word_at(push.second, row).at[0];
      primitive_is_due = false;
      ++row;
      --left;
      continue;
    }
    for (; row < end; ++row) {
      const uint kind = byte_at(push.kinds, row);
      if (kind == kIntersection || kind == kAnyHit || kind == kClosestHit) {
        break;
      }
    }
    if (row >= end) {
      break;
    }
    const uint64_t instance = word_at(push.first, row).at[0];
    if (kWhich == kObjects) {
      word = word << push.symbol_bits | instance << push.primitive_bits | word_at(push.second, row).at[0];
      ++row;
    } else {
      word = word << push.symbol_bits | instance;
      primitive_is_due = true;
    }
    --left;
  }
  const uint rest = left * push.symbol_bits;
  return shifted(word, rest) | ones(rest);
}

void main() {
  const uint64_t i = item_number(push.first_group);
  if (i >= push.count) {
    return;
  }
  const uint thread = word_at(push.threads, i).at[0];
  Longs cursor = long_at(push.cursor, thread);
  const uint64_t at = push.is_first != 0 ? long_at(push.offset, thread).at[0] << 1 : cursor.at[0];
  const uint64_t end = long_at(push.offset, uint64_t(thread) + 1).at[0];
  uint64_t row = at >> 1;
  bool primitive_is_due = (at & 1) != 0;
  uint64_t word;
  if (kWhich == kCalls) {
    word = calls(row, end);
  } else {
    word = objects(row, primitive_is_due, end);
  }
  cursor.at[0] = row << 1 | (primitive_is_due ? 1 : 0);
  const uint64_t group = push.group_of != 0 ? word_at(push.group_of, i).at[0] : 0;
  long_at(push.keys, i).at[0] = shifted(group, push.symbols * push.symbol_bits) | word;
}
