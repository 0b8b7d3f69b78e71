// Probes that append the records of accesses to buffers and images (record.h). As events.comp, with one more choice of
// threads.
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

#include "capture/instrument/probes/texels.h"

void append_texel(const Chunk c, const uint thread, const uvec2 texel) {
  Words lane = Words(c.first);
  lane.w[0] = thread;
  lane.w[c.n] = texel.x;
  lane.w[2u * c.n] = texel.y;
}

// texel: x, y, z or layer, level
void rr_access_texel(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp,
                     const uint site, const uvec4 texel, const uint element) {
  Chunk c = open_chunk(RR_ACCESS_IMAGE, 3u, name_of(shader, site), place_of_access(sm, warp, site), id, size);
  if (c.first != 0ul) {
    append_texel(c, thread_of(id, size), packed_texel(texel, element));
  }
}

// `at`: u, v, w or layer; of cubes the direction and the layer. `offset`: signed, in texels. `extent`: as the size of
// level 0 is asked for, 1 where a dimension is not there; then the number of levels. `form`: RR_IMAGE_…
void rr_access_sample(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp,
                      const uint site, const vec4 at, const uvec3 offset, const uvec4 extent, const uint form,
                      const uint element, const float lod, const float least_lod) {
  Chunk c = open_chunk(RR_ACCESS_IMAGE, 3u, name_of(shader, site), place_of_access(sm, warp, site), id, size);
  if (c.first != 0ul) {
    uint level = nearest_level(max(lod, least_lod), extent.w);
    append_texel(c, thread_of(id, size), sampled_texel(at, offset, extent, form, level, element));
  }
}

void rr_access_sample_gradients(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp,
                                const uint site, const vec4 at, const uvec3 offset, const uvec4 extent,
                                const uint form, const uint element, const vec3 along_x, const vec3 along_y,
                                const float least_lod) {
  Chunk c = open_chunk(RR_ACCESS_IMAGE, 3u, name_of(shader, site), place_of_access(sm, warp, site), id, size);
  if (c.first != 0ul) {
    float lod = lod_of_gradients(at.xyz, along_x, along_y, extent.xyz, form);
    uint level = nearest_level(max(lod, least_lod), extent.w);
    append_texel(c, thread_of(id, size), sampled_texel(at, offset, extent, form, level, element));
  }
}

layout(push_constant) uniform Arguments {
  uint u;
} a;

void main() {
  uvec3 v = uvec3(a.u);
  rr_access_offset(a.u, v, v, a.u, a.u, a.u, a.u);
  rr_access_address(a.u, v, v, a.u, a.u, a.u, v.xy);
  vec4 at = vec4(v, 1.0);
  rr_access_texel(a.u, v, v, a.u, a.u, a.u, v.xyzz, a.u);
  rr_access_sample(a.u, v, v, a.u, a.u, a.u, at, v, v.xyzz, a.u, a.u, at.x, at.x);
  rr_access_sample_gradients(a.u, v, v, a.u, a.u, a.u, at, v, v.xyzz, a.u, a.u, at.xyz, at.xyz, at.x);
}
