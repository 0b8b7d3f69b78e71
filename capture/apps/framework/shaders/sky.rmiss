// Nothing was hit: the sky shines on the path, and it ends.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "capture/apps/framework/shaders/params.glsl"
#include "capture/apps/framework/shaders/path.glsl"

layout(location = 0) rayPayloadInEXT Path path;

void main() {
  const float height = 0.5 * (path.direction.y + 1);
  path.radiance += path.throughput * mix(params.sky_bottom, params.sky_top, height);
  path.flags |= kPathEnded;
}
