#version 460
#extension GL_EXT_ray_tracing : require
layout(set = 0, binding = 1) buffer Marks { uint mark[]; };
layout(location = 0) rayPayloadInEXT uint payload;

void main() {
  payload = 0u;
  for (uint i = 0u; i < 100u * gl_LaunchIDEXT.x; i += 3u) {  // up to 500 times
    atomicAdd(mark[24], 1u);
    payload += i;
  }
}
