#version 460
#extension GL_EXT_ray_tracing : require
layout(set = 0, binding = 1) buffer Marks { uint mark[]; };
layout(location = 0) rayPayloadInEXT uint payload;

void main() {
  atomicAdd(mark[20], 1u);
  payload = gl_LaunchIDEXT.x;
}
