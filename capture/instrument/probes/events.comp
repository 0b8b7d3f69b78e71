// Probes that append the records of record.h.
//
// Functions are linked unchanged into modules of any stage, so they use no stage's features: values of built-in
// variables are arguments ("place" is w2's SM and warp bits). Specialisation constants become plain constants there.
// `main` only keeps the functions in this module.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
#ifdef RR_CLOCK
#extension GL_EXT_shader_realtime_clock : require
#endif
#include "capture/instrument/probes/constants.h"
#include "capture/instrument/probes/record.h"
#include "capture/instrument/probes/vote.h"

layout(local_size_x = 1) in;

#define RR_SAMPLED kSampled
#include "capture/instrument/probes/chunk.h"

void append1(const uint kind, const uint name, const uint place, const uvec3 id, const uvec3 size) {
  Chunk c = open_chunk(kind, 1u, name, place, id, size);
  if (c.first != 0ul) {
    Words(c.first).w[0] = thread_of(id, size);
  }
}

void append3(const uint kind, const uint name, const uint place, const uvec3 id, const uvec3 size, const uint field_1,
             const uint field_2) {
  Chunk c = open_chunk(kind, 3u, name, place, id, size);
  if (c.first != 0ul) {
    Words lane = Words(c.first);
    lane.w[0] = thread_of(id, size);
    lane.w[c.n] = field_1;
    lane.w[2u * c.n] = field_2;
  }
}

void append5(const uint kind, const uint name, const uint place, const uvec3 id, const uvec3 size, const float t,
             const uint instance, const uint primitive, const uint geometry) {
  Chunk c = open_chunk(kind, 5u, name, place, id, size);
  if (c.first != 0ul) {
    Words lane = Words(c.first);
    lane.w[0] = thread_of(id, size);
    lane.w[c.n] = floatBitsToUint(t);
    lane.w[2u * c.n] = instance;
    lane.w[3u * c.n] = primitive;
    lane.w[4u * c.n] = geometry;
  }
}

void rr_ray_generation(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp) {
  append1(RR_RAY_GENERATION, name_of(shader, 0u), place_of(sm, warp), id, size);
}

void rr_miss(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp) {
  append1(RR_MISS, name_of(shader, 0u), place_of(sm, warp), id, size);
}

void rr_callable(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp) {
  append1(RR_CALLABLE, name_of(shader, 0u), place_of(sm, warp), id, size);
}

void rr_intersection(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp, const float t,
                     const uint instance, const uint primitive, const uint geometry) {
  append5(RR_INTERSECTION, name_of(shader, 0u), place_of(sm, warp), id, size, t, instance, primitive, geometry);
}

void rr_any_hit(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp, const float t,
                const uint instance, const uint primitive, const uint geometry, const uint hit_kind) {
  append5(RR_ANY_HIT, name_of(shader, 0u), place_of(sm, warp), id, size, t, instance, primitive,
          geometry | hit_kind << 24);
}

void rr_closest_hit(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp, const float t,
                    const uint instance, const uint primitive, const uint geometry, const uint hit_kind) {
  append5(RR_CLOSEST_HIT, name_of(shader, 0u), place_of(sm, warp), id, size, t, instance, primitive,
          geometry | hit_kind << 24);
}

void rr_trace(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp, const uint site,
              const uint hit_object, const uint flags, const uint cull_mask, const uint sbt_offset,
              const uint sbt_stride, const uint miss, const vec3 origin, const float t_min, const vec3 direction,
              const float t_max) {
  Chunk c = open_chunk(RR_TRACE, 12u, name_of(shader, site), place_of(sm, warp), id, size);
  if (c.first != 0ul) {
    Words lane = Words(c.first);
    lane.w[0] = thread_of(id, size);
    lane.w[c.n] = flags;
    lane.w[2u * c.n] = (cull_mask & 0xFFu) | (sbt_offset & 0xFu) << 8 | (sbt_stride & 0xFu) << 12 | hit_object << 16;
    lane.w[3u * c.n] = miss;
    lane.w[4u * c.n] = floatBitsToUint(origin.x);
    lane.w[5u * c.n] = floatBitsToUint(origin.y);
    lane.w[6u * c.n] = floatBitsToUint(origin.z);
    lane.w[7u * c.n] = floatBitsToUint(t_min);
    lane.w[8u * c.n] = floatBitsToUint(direction.x);
    lane.w[9u * c.n] = floatBitsToUint(direction.y);
    lane.w[10u * c.n] = floatBitsToUint(direction.z);
    lane.w[11u * c.n] = floatBitsToUint(t_max);
  }
}

void rr_report(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp, const float t,
               const uint hit_kind) {
  append3(RR_REPORT, name_of(shader, 0u), place_of(sm, warp), id, size, floatBitsToUint(t), hit_kind);
}

void rr_report_result(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp,
                      const bool accepted) {
  if (!accepted) {
    append1(RR_REPORT_REJECTED, name_of(shader, 0u), place_of(sm, warp), id, size);
  }
}

void rr_ignore(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp) {
  append1(RR_IGNORE, name_of(shader, 0u), place_of(sm, warp), id, size);
}

void rr_terminate(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp) {
  append1(RR_TERMINATE, name_of(shader, 0u), place_of(sm, warp), id, size);
}

void rr_reorder(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp, const uint hint,
                const uint bits, const uint ray) {
  append3(RR_REORDER, name_of(shader, 0u), place_of(sm, warp), id, size, hint, (bits & 0xFFu) | ray << 8);
}

void rr_hint(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp, const uint hint) {
  Chunk c = open_chunk(RR_HINT, 2u, name_of(shader, 0u), place_of(sm, warp), id, size);
  if (c.first != 0ul) {
    Words lane = Words(c.first);
    lane.w[0] = thread_of(id, size);
    lane.w[c.n] = hint;
  }
}

void rr_execute(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp, const uint ray) {
  Chunk c = open_chunk(RR_EXECUTE, 2u, name_of(shader, 0u), place_of(sm, warp), id, size);
  if (c.first != 0ul) {
    Words lane = Words(c.first);
    lane.w[0] = thread_of(id, size);
    lane.w[c.n] = ray;
  }
}

// Opens the chunk of a path: low and high word of the lane's place, n, and what to write: 0 nothing, 1 `bytes` words of
// four counters, 2 a word for each of `words` counters. `large`: a counter of this lane is beyond a byte.
uvec4 rr_open_path(const uint shader, const uvec3 id, const uvec3 size, const uint sm, const uint warp,
                   const uint goes_on, const uint bytes, const uint words, const bool large) {
  uvec4 beyond = vote(large);
  bool narrow = beyond.x == 0u && (!kWide || beyond.y == 0u);
  uint fields = narrow ? bytes : words;
  Chunk c = open_chunk(narrow ? RR_PATH_BYTES : RR_PATH, fields + 1u, name_of(shader, fields | goes_on << 7),
                       place_of(sm, warp), id, size);
  if (c.first == 0ul) {
    return uvec4(0u);
  }
  Words(c.first).w[0] = thread_of(id, size);
  return uvec4(uint(c.first), uint(c.first >> 32), c.n, narrow ? 1u : 2u);
}

void rr_path_word(const uvec4 chunk, const uint k, const uint word) {
  Words(uint64_t(chunk.x) | uint64_t(chunk.y) << 32).w[(k + 1u) * chunk.z] = word;
}

layout(push_constant) uniform Arguments {
  uint u;
} a;

void main() {
  uvec3 v = uvec3(a.u);
  float f = uintBitsToFloat(a.u);
  rr_ray_generation(a.u, v, v, a.u, a.u);
  rr_miss(a.u, v, v, a.u, a.u);
  rr_callable(a.u, v, v, a.u, a.u);
  rr_intersection(a.u, v, v, a.u, a.u, f, a.u, a.u, a.u);
  rr_any_hit(a.u, v, v, a.u, a.u, f, a.u, a.u, a.u, a.u);
  rr_closest_hit(a.u, v, v, a.u, a.u, f, a.u, a.u, a.u, a.u);
  rr_trace(a.u, v, v, a.u, a.u, a.u, a.u, a.u, a.u, a.u, a.u, a.u, vec3(v), f, vec3(v), f);
  rr_report(a.u, v, v, a.u, a.u, f, a.u);
  rr_report_result(a.u, v, v, a.u, a.u, a.u != 0u);
  rr_ignore(a.u, v, v, a.u, a.u);
  rr_terminate(a.u, v, v, a.u, a.u);
  rr_reorder(a.u, v, v, a.u, a.u, a.u, a.u, a.u);
  rr_hint(a.u, v, v, a.u, a.u, a.u);
  rr_execute(a.u, v, v, a.u, a.u, a.u);
  rr_path_word(rr_open_path(a.u, v, v, a.u, a.u, a.u, a.u, a.u, a.u != 0u), a.u, a.u);
}
