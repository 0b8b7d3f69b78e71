// Probes that append the records of accesses to buffers (record.h). As events.comp, with one more choice of threads.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
#include "capture/instrument/probes/constants.h"
#include "capture/instrument/probes/record.h"
#include "capture/instrument/probes/vote.h"

layout(local_size_x = 1) in;

layout(constant_id = RR_CONST_ACCESS_SAMPLED) const bool kAccessSampled = false;
layout(constant_id = RR_CONST_ACCESS_EVERY) const uint kAccessEvery = 1;

#define RR_SAMPLED kAccessSampled
#define RR_SAMPLED_EVERY kAccessEvery
#include "capture/instrument/probes/chunk.h"

uint place_of_access(const uint sm, const uint warp, const uint site) {
  return place_of(sm, warp) | site >> 8 << RR_SITE_SHIFT;
}

void rr_access_offset(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp,
                      const uint site, const uint offset) {
  Chunk c = open_chunk(RR_ACCESS_OFFSET, 2u, name_of(shader, site), place_of_access(sm, warp, site), id, size);
  if (c.first != 0ul) {
    Words lane = Words(c.first);
    lane.w[0] = thread_of(id, size);
    lane.w[c.n] = offset;
  }
}

void rr_access_address(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp,
                       const uint site, const uvec2 address) {
  Chunk c = open_chunk(RR_ACCESS_ADDRESS, 3u, name_of(shader, site), place_of_access(sm, warp, site), id, size);
  if (c.first != 0ul) {
    Words lane = Words(c.first);
    lane.w[0] = thread_of(id, size);
    lane.w[c.n] = address.x;
    lane.w[2u * c.n] = address.y;
  }
}

layout(push_constant) uniform Arguments {
  uint u;
} a;

void main() {
  uvec3 v = uvec3(a.u);
  rr_access_offset(a.u, v, v, a.u, a.u, a.u, a.u);
  rr_access_address(a.u, v, v, a.u, a.u, a.u, v.xy);
}
