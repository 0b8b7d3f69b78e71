#version 460
#extension GL_EXT_ray_tracing : require
layout(location = 0) rayPayloadInEXT uvec2 payload;

void main() {
  payload.y = payload.y * 31u + gl_IncomingRayFlagsEXT * 10u + 1u;
}
