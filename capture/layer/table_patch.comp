// Copies shader binding tables, replacing one pipeline's group handles by another's: one thread per record.
// table_patch.cpp fills these inputs and describes their layout.
//
// The base of the dispatch alone selects a launch's arguments, so that the application's descriptors and push constants
// stay untouched.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 64) in;

layout(constant_id = 0) const uint64_t kArguments = 0;  // address of the first slot
layout(constant_id = 1) const uint kHandleWords = 8;

layout(buffer_reference, buffer_reference_align = 4, std430) buffer Words {
  uint w[];
};
layout(buffer_reference, buffer_reference_align = 128, std430) readonly buffer Arguments {
  uint64_t map;
  uint64_t source[4];
  uint64_t target[4];
  uint records[4];
  uint stride[4];  // words; 0: one record
  uint words[4];   // of the region
};

// The position in the map of the handle at `record`; 0: no group of the pipeline has it.
uint find(const Words map, const Words record) {
  uint mask = map.w[0];
  uint hash = 2166136261u;
  for (uint i = 0u; i < kHandleWords; ++i) {
    hash = (hash ^ record.w[i]) * 16777619u;
    hash ^= hash >> 15;
  }
  for (uint probe = 0u; probe <= mask; ++probe) {
    uint entry = 4u + ((hash + probe) & mask) * (1u + 2u * kHandleWords);
    if (map.w[entry] == 0u) {
      return 0u;
    }
    bool same = true;
    for (uint i = 0u; i < kHandleWords; ++i) {
      same = same && map.w[entry + 1u + i] == record.w[i];
    }
    if (same) {
      return entry;
    }
  }
  return 0u;
}

void main() {
  Arguments a = Arguments(kArguments + uint64_t(gl_WorkGroupID.y) * 128ul);
  uint record = gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  uint region = 0u;
  while (region < 4u && record >= a.records[region]) {
    record -= a.records[region];
    ++region;
  }
  if (region == 4u) {
    return;
  }
  uint first = record * a.stride[region];
  uint words = a.words[region] - first;
  if (a.stride[region] != 0u) {
    words = min(words, a.stride[region]);
  }
  Words from = Words(a.source[region] + uint64_t(first) * 4ul);
  Words to = Words(a.target[region] + uint64_t(first) * 4ul);
  uint copied = 0u;
  if (words >= kHandleWords) {
    Words map = Words(a.map);
    uint entry = find(map, from);
    for (; copied < kHandleWords; ++copied) {
      to.w[copied] = entry == 0u ? 0u : map.w[entry + 1u + kHandleWords + copied];
    }
  }
  for (; copied < words; ++copied) {
    to.w[copied] = from.w[copied];
  }
}
