// Functions that change what a module does: the launch id by table (swizzle), ray flags and opacity (observe_all).
// Linked like the probes of events.comp.
//
// Ray flags: a word of each thread holds the application's flags of the current or last trace call of the thread.
// Traversal does not nest, so in any-hit and intersection shaders, and on entry to closest-hit and miss shaders, it is
// that of the shader's ray. The shaders of one thread pass it on by relaxed atomics of device scope: writes of a shader
// are ordered before those of the shaders that it calls.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_memory_scope_semantics : require
#include "capture/instrument/probes/constants.h"
#include "capture/instrument/probes/record.h"

layout(local_size_x = 1) in;

layout(constant_id = RR_CONST_CONTROL) const uint64_t kControl = 0;
layout(constant_id = RR_CONST_SWIZZLE) const uint64_t kSwizzle = 0;
layout(constant_id = RR_CONST_SWIZZLE_WIDTH) const uint kSwizzleWidth = 0;
layout(constant_id = RR_CONST_SWIZZLE_HEIGHT) const uint kSwizzleHeight = 0;
layout(constant_id = RR_CONST_SWIZZLE_DEPTH) const uint kSwizzleDepth = 0;
layout(constant_id = RR_CONST_OPACITY) const uint64_t kOpacity = 0;
layout(constant_id = RR_CONST_RAY_FLAGS) const uint64_t kRayFlags = 0;
layout(constant_id = RR_CONST_RAY_FLAGS_THREADS) const uint kRayFlagsThreads = 0;

layout(buffer_reference, buffer_reference_align = 4, std430) readonly buffer Words {
  uint w[];
};
layout(buffer_reference, buffer_reference_align = 4, std430) buffer RayFlags {
  uint of_thread[];
};
layout(buffer_reference, buffer_reference_align = 256, std430) buffer Control {
  layout(offset = RR_CONTROL_OPACITY) uint opacity;
  layout(offset = RR_CONTROL_CULLING) uint culling;
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

uint thread_of(const uvec3 id, const uvec3 size) {
  return id.x + size.x * (id.y + size.y * id.z);
}

void rr_keep_flags(const uvec3 id, const uvec3 size, const uint flags) {
  uint thread = thread_of(id, size);
  if (thread < kRayFlagsThreads) {
    atomicStore(RayFlags(kRayFlags).of_thread[thread], flags, gl_ScopeDevice, gl_StorageSemanticsNone,
                gl_SemanticsRelaxed);
  }
}

uint kept_flags(const uint thread) {
  return atomicLoad(RayFlags(kRayFlags).of_thread[thread], gl_ScopeDevice, gl_StorageSemanticsNone,
                    gl_SemanticsRelaxed);
}

// Culling by opacity must stay; CullNoOpaque leaves opaque candidates unobserved.
bool culls_by_opacity(const uint flags) {
  return (flags & (kCullOpaque | kCullNoOpaque)) != 0u;
}

void count_culling(const uint flags) {
  if ((flags & kCullNoOpaque) != 0u) {
    atomicAdd(Control(kControl).culling, 1u);
  }
}

// Without any-hit shaders of the application the ray may lose its Opaque flag.
uint rr_flags_all(const uvec3 id, const uvec3 size, const uint flags) {
  rr_keep_flags(id, size, flags);
  count_culling(flags);
  return culls_by_opacity(flags) ? flags : (flags & ~kOpaque) | kNoOpaque;
}

// The application's any-hit shaders identify opaque candidates by the ray's own flags and the table (rr_opaque).
// Without memory for the flags the ray stays unchanged.
uint rr_flags_by_table(const uvec3 id, const uvec3 size, const uint flags) {
  rr_keep_flags(id, size, flags);
  count_culling(flags);
  uint how = Control(kControl).opacity;
  bool change = thread_of(id, size) < kRayFlagsThreads && !culls_by_opacity(flags) &&
                (how == RR_OPACITY_TABLE || (how == RR_OPACITY_RAYS && (flags & kOpaque) != 0u));
  return change ? (flags & ~kOpaque) | kNoOpaque : flags;
}

// The flags as the application's shaders must see them.
uint rr_incoming_flags(const uvec3 id, const uvec3 size, const uint flags) {
  uint result = flags;
  uint thread = thread_of(id, size);
  if ((flags & kNoOpaque) != 0u && thread < kRayFlagsThreads) {
    result = (flags & ~kNoOpaque) | (kept_flags(thread) & (kOpaque | kNoOpaque));
  }
  return result;
}

bool opaque_in_table(const uint instance, const uint geometry) {
  bool result = false;
  Words table = Words(kOpacity);
  uint instances = table.w[0];
  if (instance < instances) {
    uint bit = table.w[1u + instance] + geometry;
    result = (table.w[1u + instances + bit / 32u] >> (bit % 32u) & 1u) != 0u;
  }
  return result;
}

// Whether the candidate is opaque to the application, so that its any-hit shader must not run.
bool rr_opaque(const uvec3 id, const uvec3 size, const uint instance, const uint geometry) {
  bool result = false;
  uint thread = thread_of(id, size);
  uint how = Control(kControl).opacity;
  if (how != RR_OPACITY_AS_GIVEN && thread < kRayFlagsThreads) {
    uint flags = kept_flags(thread);
    if (culls_by_opacity(flags)) {
      result = false;  // the ray is unchanged
    } else if ((flags & (kOpaque | kNoOpaque)) != 0u) {
      result = (flags & kOpaque) != 0u;
    } else if (how == RR_OPACITY_TABLE) {
      result = opaque_in_table(instance, geometry);
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
  uvec3 id = rr_swizzle(uvec3(a.u), uvec3(a.u));
  sink.id = id;
  sink.flags = rr_flags_all(id, id, a.u) + rr_flags_by_table(id, id, a.u) + rr_incoming_flags(id, id, a.u) +
               (rr_opaque(id, id, a.u, a.u) ? 1u : 0u);
}
