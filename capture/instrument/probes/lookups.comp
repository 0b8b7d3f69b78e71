// Functions that change what a module does: the launch id by table (swizzle), ray flags and opacity (observe_all).
// Linked like the probes of events.comp.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#include "capture/instrument/probes/constants.h"
#include "capture/instrument/probes/record.h"

layout(local_size_x = 1) in;

layout(constant_id = RR_CONST_CONTROL) const uint64_t kControl = 0;
layout(constant_id = RR_CONST_SWIZZLE) const uint64_t kSwizzle = 0;
layout(constant_id = RR_CONST_SWIZZLE_WIDTH) const uint kSwizzleWidth = 0;
layout(constant_id = RR_CONST_SWIZZLE_HEIGHT) const uint kSwizzleHeight = 0;
layout(constant_id = RR_CONST_SWIZZLE_DEPTH) const uint kSwizzleDepth = 0;
layout(constant_id = RR_CONST_OPACITY) const uint64_t kOpacity = 0;

layout(buffer_reference, buffer_reference_align = 4, std430) readonly buffer Words {
  uint w[];
};
layout(buffer_reference, buffer_reference_align = 256, std430) readonly buffer Control {
  layout(offset = RR_CONTROL_OPACITY) uint opacity;
};

const uint kOpaque = 1u;
const uint kNoOpaque = 2u;
const uint kCullOpaque = 64u;
const uint kCullNoOpaque = 128u;

uvec3 rr_swizzle(const uvec3 id, const uvec3 size) {
  uvec3 result = id;
  if (size == uvec3(kSwizzleWidth, kSwizzleHeight, kSwizzleDepth)) {
    uint thread = Words(kSwizzle).w[id.x + kSwizzleWidth * (id.y + kSwizzleHeight * id.z)];
    uint row = thread / kSwizzleWidth;
    result = uvec3(thread % kSwizzleWidth, row % kSwizzleHeight, row / kSwizzleHeight);
  }
  return result;
}

// No any-hit shader of the application can see the ray: it may lose its Opaque flag. Culling by opacity must stay.
uint rr_flags_all(const uint flags) {
  return (flags & (kCullOpaque | kCullNoOpaque)) != 0u ? flags : (flags & ~kOpaque) | kNoOpaque;
}

// The application's any-hit shaders tell opaque candidates by the table, which cannot know that a ray was opaque: only
// rays without any opacity flag change.
uint rr_flags_by_table(const uint flags) {
  bool change = (flags & (kOpaque | kNoOpaque | kCullOpaque | kCullNoOpaque)) == 0u &&
                Control(kControl).opacity == 1u;
  return change ? flags | kNoOpaque : flags;
}

// What the application's shaders see of the flags that the above changed.
uint rr_incoming_flags(const uint flags) {
  return Control(kControl).opacity == 1u ? flags & ~kNoOpaque : flags;
}

// Is the candidate opaque to the application, so that its any-hit shader must not run?
bool rr_opaque(const uint instance, const uint geometry) {
  bool result = false;
  if (Control(kControl).opacity == 1u) {
    Words table = Words(kOpacity);
    uint instances = table.w[0];
    if (instance < instances) {
      uint bit = table.w[1u + instance] + geometry;
      result = (table.w[1u + instances + bit / 32u] >> (bit % 32u) & 1u) != 0u;
    }
  }
  return result;
}

layout(push_constant) uniform Arguments {
  uint u;
} a;
layout(set = 0, binding = 0) buffer Sink {
  uvec3 id;
  uint flags;
} sink;

void main() {
  sink.id = rr_swizzle(uvec3(a.u), uvec3(a.u));
  sink.flags = rr_flags_all(a.u) + rr_flags_by_table(a.u) + rr_incoming_flags(a.u) + (rr_opaque(a.u, a.u) ? 1u : 0u);
}
