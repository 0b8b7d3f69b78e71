// What the path does where it met a sphere. Variants: MATERIAL is the one kind that this shader knows (a hit group for
// each kind), without it the shader asks the material; RECURSION traces the next bounce from here.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require
#include "capture/apps/framework/shaders/params.glsl"
#include "capture/apps/framework/shaders/path.glsl"
#include "capture/apps/framework/shaders/random.glsl"
#include "capture/apps/framework/shaders/surface.glsl"

layout(set = 0, binding = 0) uniform accelerationStructureEXT scene;
layout(set = 0, binding = 5, scalar) readonly buffer Materials {
  Material materials[];  // of the sphere with the same number
};
layout(location = 0) rayPayloadInEXT Path path;
hitAttributeEXT vec3 outward;

void main() {
  Surface surface;
  surface.material = materials[gl_InstanceCustomIndexEXT + gl_PrimitiveID];
  surface.point = gl_WorldRayOriginEXT + gl_WorldRayDirectionEXT * gl_HitTEXT;
  const vec3 normal = normalize(outward);
  surface.normal = dot(normal, gl_WorldRayDirectionEXT) > 0 ? -normal : normal;
  surface.geometric_normal = surface.normal;
  surface.front = gl_HitKindEXT == 0;
  surface.color = surface.material.color;
  spend(path, params.hit_work);
#ifdef MATERIAL
  const uint kind = MATERIAL;
#else
  const uint kind = surface.material.kind;
#endif
  if (kind == kDiffuse) {
    scatter_diffuse(path, surface);
  } else if (kind == kMetal) {
    scatter_metal(path, surface);
  } else {
    scatter_dielectric(path, surface);
  }
#ifdef RECURSION
  ++path.bounce;
  if (path.bounce < params.depth && (path.flags & kPathEnded) == 0) {
    traceRayEXT(scene, params.ray_flags, 0xFF, 0, params.sbt_stride, kSkyMiss, path.origin, params.t_min,
                path.direction, params.t_max, 0);
  }
#endif
}
