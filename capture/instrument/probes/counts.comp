// Probes that count executions of a block: the first active lane of a group adds for all of them. A counter is u64
// lanes, or u64 lanes and u64 groups. Linked like the probes of events.comp.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_KHR_shader_subgroup_ballot : require
#include "capture/instrument/probes/constants.h"

layout(local_size_x = 1) in;

layout(constant_id = RR_CONST_WIDE) const bool kWide = false;

layout(buffer_reference, buffer_reference_align = 8, std430) buffer Lanes {
  uint64_t lanes;
};
layout(buffer_reference, buffer_reference_align = 16, std430) buffer Both {
  uint64_t lanes;
  uint64_t groups;
};

uint lanes_of(const uvec4 together) {
  return uint(bitCount(together.x)) + (kWide ? uint(bitCount(together.y)) : 0u);
}

void rr_count_lanes(const uint64_t counters, const uint index) {
  uvec4 together = subgroupBallot(true);
  if (subgroupElect()) {
    atomicAdd(Lanes(counters + uint64_t(index) * 8ul).lanes, uint64_t(lanes_of(together)));
  }
}

void rr_count_both(const uint64_t counters, const uint index) {
  uvec4 together = subgroupBallot(true);
  if (subgroupElect()) {
    Both counter = Both(counters + uint64_t(index) * 16ul);
    atomicAdd(counter.lanes, uint64_t(lanes_of(together)));
    atomicAdd(counter.groups, 1ul);
  }
}

layout(push_constant) uniform Arguments {
  uint64_t counters;
  uint index;
} a;

void main() {
  rr_count_lanes(a.counters, a.index);
  rr_count_both(a.counters, a.index);
}
