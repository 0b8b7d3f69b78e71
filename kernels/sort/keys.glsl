// Shared by the sort's kernels: shapes, digits, and sums over the bins of a workgroup.
//
// Contract: specialization constants 0: threads of a workgroup, 1: keys a thread takes of each tile, 2: the size of the
// subgroups, all full. A workgroup of 8 subgroups has 32 to 1024 threads, a power of two. KEY64: 64-bit keys. ROLLED
// keeps loops over a thread's keys, for software devices: unrolled, they take their compilers many seconds without
// gain; on GPUs unrolling keeps the keys in registers.
#extension GL_EXT_control_flow_attributes : require
#include "kernels/shaders/common.glsl"
#include "kernels/sort/sort_types.h"

layout(local_size_x_id = 0, local_size_y = 1, local_size_z = 1) in;
layout(constant_id = 0) const uint kThreads = 256;
layout(constant_id = 1) const uint kItems = 16;
layout(constant_id = 2) const uint kSubgroup = 32;

const uint kBins = 256;
const uint kSubgroups = kThreads / kSubgroup;
const uint kTile = kThreads * kItems;
/// Bins of a thread: one, or several where there are fewer threads than bins.
const uint kBinsPerThread = kThreads < kBins ? kBins / kThreads : 1;

#ifdef ROLLED
#define EACH [[dont_unroll]]
#else
#define EACH [[unroll]]
#endif

layout(push_constant, scalar) uniform Push {
  SortPush push;
};

#ifdef KEY64
#define Key uint64_t
#define Keys Longs
#else
#define Key uint
#define Keys Words
#endif
const uint kKeyBytes = uint(KEY_BYTES);

uint digit_of(Key key) {
  return uint(key >> push.shift) & push.digit_mask;
}

/// The thread's number by subgroup, then lane (gl_LocalInvocationIndex need not count that way).
uint thread_number() {
  return gl_SubgroupID * kSubgroup + gl_SubgroupInvocationID;
}

/// Shader access chains take an index as signed: the address takes large ones.
Keys key_at(uint64_t array, uint index) {
  return Keys(array + uint64_t(index) * kKeyBytes);
}
Words word_at(uint64_t array, uint index) {
  return Words(array + uint64_t(index) * 4);
}

shared uint subgroup_sums[kSubgroups];

/// Sum of `mine` over the threads before this one. Has barriers at begin and end: `subgroup_sums` may be reused after
/// the next one.
uint sum_before(uint mine, out uint total) {
  const uint in_subgroup = subgroupExclusiveAdd(mine);
  if (gl_SubgroupInvocationID == kSubgroup - 1) {
    subgroup_sums[gl_SubgroupID] = in_subgroup + mine;
  }
  barrier();
  uint before = in_subgroup;
  total = 0;
  for (uint s = 0; s < kSubgroups; ++s) {
    const uint sum = subgroup_sums[s];
    before += s < gl_SubgroupID ? sum : 0;
    total += sum;
  }
  return before;
}
