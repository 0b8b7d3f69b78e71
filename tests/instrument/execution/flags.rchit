// Sees its ray's flags before and after a ray of its own with others.
#version 460
#extension GL_EXT_ray_tracing : require
layout(set = 0, binding = 0) uniform accelerationStructureEXT scene;
layout(location = 0) rayPayloadInEXT uvec2 payload;
layout(location = 1) rayPayloadEXT uvec2 inner;

void main() {
  payload.y = payload.y * 31u + gl_IncomingRayFlagsEXT * 10u + 2u + uint(gl_InstanceID);
  if (payload.x == 0u) {
    inner = uvec2(1u, 0u);
    uint flags = gl_IncomingRayFlagsEXT == gl_RayFlagsNoneEXT     ? gl_RayFlagsOpaqueEXT
                 : gl_IncomingRayFlagsEXT == gl_RayFlagsOpaqueEXT ? gl_RayFlagsNoOpaqueEXT
                                                                  : gl_RayFlagsNoneEXT;
    traceRayEXT(scene, flags, 0xFFu, 0u, 1u, 0u, gl_WorldRayOriginEXT, 0.5, vec3(0, 0, 1), 90.0, 1);
    payload.y = (payload.y * 31u + inner.y) * 31u + gl_IncomingRayFlagsEXT;
  }
}
