// Reorder keys of shader and hint (scheduler-models/regrouping/reorder_key.hpp). One invocation per thread of the
// launch.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  KeysPush push;
};

#include "kernels/regrouping/pending_ray.glsl"

/// The hint as a number of hint_width bits, most significant first.
uint captured_hint(uint ray) {
  const uint given = min(byte_at(push.hint_bits_of, ray), 32u);
  const uint64_t value = uint64_t(word_at(push.hint, ray)) & ((1ul << given) - 1);
  return uint(given > push.hint_width ? value >> (given - push.hint_width) : value << (push.hint_width - given));
}

void main() {
  const uint thread = THREAD_NUMBER;
  if (thread >= push.threads) {
    return;
  }
  const uint first = word_at(push.first, thread);
  const uint last = word_at(push.first, thread + 1);
  for (uint segment = first; segment < last; ++segment) {
    const uint row = uint(long_at(push.segment_offset, segment));
    const uint kind = byte_at(push.kind, row);
    uint64_t key = 0;
    if (kind == kMiss || kind == kClosestHit) {
      if (push.shader_bits > 0) {
        const uint call = (kind == kClosestHit ? 1u << 16 : 0) | half_at(push.shader, row);
        key = uint64_t(call & ((1u << push.shader_bits) - 1)) << (push.hint_bits + push.place_bits);
      }
      if (push.hint_bits > 0) {
        uint hint = 0;
        if (push.hint_from == kHintGiven) {
          hint = word_at(push.value, segment);
        } else {
          hint = captured_hint(ray_of(thread, segment, row, uint(long_at(push.segment_offset, first))));
        }
        key |= uint64_t(hint >> (push.hint_width - push.hint_bits)) << push.place_bits;
      }
    }
    put_long(push.keys, segment, key);
  }
}
