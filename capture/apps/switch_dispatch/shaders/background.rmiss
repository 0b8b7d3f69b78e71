// What every ray of switch_dispatch ends in.
#version 460
#extension GL_EXT_ray_tracing : require

layout(location = 0) rayPayloadInEXT vec3 background;

void main() {
  background = vec3(1);
}
