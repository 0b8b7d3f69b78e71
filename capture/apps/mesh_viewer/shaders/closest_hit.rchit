// What the path does where it met the scene. kKind is the one kind of material that this shader knows (a hit group for
// each kind) or kAnyKind. Variants: SPHERES for procedural geometry, RECURSION traces shadow ray and next bounce here.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "capture/apps/mesh_viewer/shaders/extensions.glsl"
#include "capture/apps/framework/shaders/params.glsl"
#include "capture/apps/framework/shaders/path.glsl"
#include "capture/apps/framework/shaders/random.glsl"
#include "capture/apps/framework/shaders/surface.glsl"
#include "capture/apps/mesh_viewer/shaders/records.glsl"

layout(set = 0, binding = 0) uniform accelerationStructureEXT scene;
layout(location = 0) rayPayloadInEXT Path path;
#ifdef RECURSION
layout(location = 1) rayPayloadEXT uint visible;
#include "capture/apps/mesh_viewer/shaders/shadow.glsl"
#endif
#include "capture/apps/mesh_viewer/shaders/lights.glsl"

const uint kAnyKind = 4u;
layout(constant_id = 0) const uint kKind = kAnyKind;

vec3 to_world(vec3 normal) {
  return normalize((normal * gl_WorldToObjectEXT).xyz);
}

vec3 facing(vec3 normal) {
  return dot(normal, gl_WorldRayDirectionEXT) > 0 ? -normal : normal;
}

#ifdef SPHERES
void fill_normals(inout Surface surface) {
  surface.geometric_normal = facing(to_world(outward));
  surface.normal = surface.geometric_normal;
  surface.front = gl_HitKindEXT == 0;
}
#else
void fill_normals(inout Surface surface) {
  const uvec3 corner = corners_of(gl_PrimitiveID);
  const vec3 a = record.positions.at[corner.x];
  const vec3 face = cross(record.positions.at[corner.y] - a, record.positions.at[corner.z] - a);
  surface.geometric_normal = facing(to_world(face));
  surface.normal = surface.geometric_normal;
  surface.front = gl_HitKindEXT == gl_HitKindFrontFacingTriangleEXT;
  if (uint64_t(record.normals) != 0) {
    const vec3 smooth_normal = to_world((1 - weights.x - weights.y) * record.normals.at[corner.x] +
                                        weights.x * record.normals.at[corner.y] +
                                        weights.y * record.normals.at[corner.z]);
    const vec3 sided = dot(smooth_normal, surface.geometric_normal) < 0 ? -smooth_normal : smooth_normal;
    // A smooth normal that looks away from the ray would reflect it into the surface.
    if (dot(sided, gl_WorldRayDirectionEXT) < 0) {
      surface.normal = sided;
    }
  }
}
#endif

void meet_light(Surface surface) {
  if (record.sampled_light == 0 || (path.flags & kPathCountedLight) == 0) {
    path.radiance += path.throughput * surface.color;
  }
  path.flags |= kPathEnded;
}

void main() {
  Surface surface;
  surface.material = material_of(gl_PrimitiveID);
  surface.point = gl_WorldRayOriginEXT + gl_WorldRayDirectionEXT * gl_HitTEXT;
  spend(path, params.hit_work);
  surface.color = surface.material.color * look_up(surface.material, texture_point(gl_PrimitiveID)).rgb;
  fill_normals(surface);
  const uint kind = kKind == kAnyKind ? surface.material.kind : kKind;
  if (kind == kEmissive) {
    meet_light(surface);
  } else {
    path.flags &= ~kPathCountedLight;
    if (kind == kDiffuse) {
      const vec3 throughput = path.throughput;
      scatter_diffuse(path, surface);
      ask_for_light(surface, throughput);
    } else if (kind == kMetal) {
      scatter_metal(path, surface);
    } else {
      scatter_dielectric(path, surface);
    }
  }
#ifdef RECURSION
  ++path.bounce;
  test_shadow();
  if (path.bounce < params.depth && (path.flags & kPathEnded) == 0) {
    traceRayEXT(scene, params.ray_flags, 0xFF, 0, params.sbt_stride, kSkyMiss, path.origin, params.t_min,
                path.direction, params.t_max, 0);
  }
#endif
}
