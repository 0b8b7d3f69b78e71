// Reading of nodes: tests of the children's boxes, and the words of met children.
//
// Contract: after `meet_node(nodes, record)`, bit s of `met` is set if slot s is met, `entry_of[s]` is its entry (else
// infinity), and `child_word(s)` packs a met child: the low bits a record or the first reference, the high kCountBits
// bits the number of references. `boxes` is the number of children. Layouts: bvh/layouts/. Constants of the including
// file: kLayout, kCountBits, kBackward.
const uint kBinary = 0u;
const uint kWide8 = 1u;
const uint kCompressed8 = 2u;

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer NodeRef { uvec4 at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer NodeWordRef { uint at[]; };

float entry_of[8];
uint met;
uint boxes;
// The node's words for child_word.
uvec4 node_words;
uvec2 meta_words;

float plane_of(uint word, int byte, float origin, float step) {
  return fma(float(bitfieldExtract(word, byte * 8, 8)), step, origin);
}

// Keeps a slot that is met.
void keep(int slot, float near, float far) {
  const bool is_met = near <= far;
  entry_of[slot] = is_met ? near : kInfinity;
  met |= is_met ? 1u << slot : 0u;
}

void meet_slot(int slot, const vec3 planes_near, const vec3 planes_far) {
  float near = space.t_min;
  float far = limit;
  meet_planes(planes_near, planes_far, space, near, far);
  keep(slot, near, far);
}

void meet_compressed(uint64_t nodes, uint record) {
  NodeRef at = NodeRef(nodes + uint64_t(record) * 80ul);
  const uvec4 n0 = at.at[0];
  const uvec4 n1 = at.at[1];
  const uvec4 n2 = at.at[2];
  const uvec4 n3 = at.at[3];
  const uvec4 n4 = at.at[4];
  const vec3 origin = uintBitsToFloat(n0.xyz);
  const vec3 step = uintBitsToFloat(uvec3((n0.w & 0xFFu) << 23, (n0.w & 0xFF00u) << 15, (n0.w & 0xFF0000u) << 7));
  const bvec3 negative = space.negative;
  const uvec2 near_x = negative.x ? n3.zw : n2.xy;
  const uvec2 far_x = negative.x ? n2.xy : n3.zw;
  const uvec2 near_y = negative.y ? n4.xy : n2.zw;
  const uvec2 far_y = negative.y ? n2.zw : n4.xy;
  const uvec2 near_z = negative.z ? n4.zw : n3.xy;
  const uvec2 far_z = negative.z ? n3.xy : n4.zw;
  node_words = uvec4(n0.w >> 24, n1.x, n1.y, 0u);
  [[unroll]] for (int slot = 0; slot < 8; ++slot) {
    const int word = slot / 4;
    const int byte = slot % 4;
    const vec3 planes_near = vec3(plane_of(near_x[word], byte, origin.x, step.x),
                                  plane_of(near_y[word], byte, origin.y, step.y),
                                  plane_of(near_z[word], byte, origin.z, step.z));
    const vec3 planes_far = vec3(plane_of(far_x[word], byte, origin.x, step.x),
                                 plane_of(far_y[word], byte, origin.y, step.y),
                                 plane_of(far_z[word], byte, origin.z, step.z));
    const bool used = bitfieldExtract(word == 0 ? n1.z : n1.w, byte * 8, 8) != 0u;
    boxes += used ? 1u : 0u;
    if (used) {
      meet_slot(slot, planes_near, planes_far);
    } else {
      entry_of[slot] = kInfinity;
    }
  }
  meta_words = n1.zw;
}

void meet_wide(uint64_t nodes, uint record) {
  const uint64_t at = nodes + uint64_t(record) * 256ul;
  NodeRef rows = NodeRef(at);
  const uvec3 near_row = mix(uvec3(0u, 2u, 4u), uvec3(6u, 8u, 10u), space.negative);
  const uvec3 far_row = mix(uvec3(6u, 8u, 10u), uvec3(0u, 2u, 4u), space.negative);
  node_words = uvec4(unpackUint2x32(at), 0u, 0u);
  [[unroll]] for (int half_node = 0; half_node < 2; ++half_node) {
    const uvec4 index = rows.at[12 + half_node];
    const vec4 near_x = uintBitsToFloat(rows.at[near_row.x + half_node]);
    const vec4 near_y = uintBitsToFloat(rows.at[near_row.y + half_node]);
    const vec4 near_z = uintBitsToFloat(rows.at[near_row.z + half_node]);
    const vec4 far_x = uintBitsToFloat(rows.at[far_row.x + half_node]);
    const vec4 far_y = uintBitsToFloat(rows.at[far_row.y + half_node]);
    const vec4 far_z = uintBitsToFloat(rows.at[far_row.z + half_node]);
    [[unroll]] for (int i = 0; i < 4; ++i) {
      const int slot = half_node * 4 + i;
      const bool used = index[i] != 0xFFFFFFFFu;
      boxes += used ? 1u : 0u;
      if (used) {
        meet_slot(slot, vec3(near_x[i], near_y[i], near_z[i]), vec3(far_x[i], far_y[i], far_z[i]));
      } else {
        entry_of[slot] = kInfinity;
      }
    }
  }
}

void meet_binary(uint64_t nodes, uint record) {
  NodeRef rows = NodeRef(nodes + uint64_t(record) * 64ul);
  const vec4 z = uintBitsToFloat(rows.at[2]);
  node_words = rows.at[3];
  [[unroll]] for (int slot = 0; slot < 2; ++slot) {
    const vec4 xy = uintBitsToFloat(rows.at[slot]);
    const vec3 low = vec3(xy.x, xy.z, z[slot * 2]);
    const vec3 high = vec3(xy.y, xy.w, z[slot * 2 + 1]);
    const bool used = node_words[slot] != 0xFFFFFFFFu;
    boxes += used ? 1u : 0u;
    if (used) {
      meet_slot(slot, mix(low, high, space.negative), mix(high, low, space.negative));
    } else {
      entry_of[slot] = kInfinity;
    }
  }
}

void meet_node(uint64_t nodes, uint record) {
  met = 0u;
  boxes = 0u;
  if (kLayout == kCompressed8) {
    meet_compressed(nodes, record);
  } else if (kLayout == kWide8) {
    meet_wide(nodes, record);
  } else {
    meet_binary(nodes, record);
  }
}

uint child_word(int slot) {
  const uint kShift = 32u - kCountBits;
  if (kLayout == kCompressed8) {
    const uint inner_mask = node_words.x;
    if ((inner_mask >> slot & 1u) != 0u) {
      return node_words.y + bitCount(inner_mask & ((1u << slot) - 1u));
    }
    const uint meta = bitfieldExtract(slot < 4 ? meta_words.x : meta_words.y, (slot & 3) * 8, 8);
    return (node_words.z + (meta & 0x1Fu)) | uint(bitCount(meta >> 5)) << kShift;
  }
  if (kLayout == kWide8) {
    NodeWordRef words = NodeWordRef(packUint2x32(node_words.xy));
    return words.at[48 + slot] | words.at[56 + slot] << kShift;
  }
  return node_words[slot] | node_words[2 + slot] << kShift;
}
