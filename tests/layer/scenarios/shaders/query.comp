#version 460
#extension GL_EXT_ray_query : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform accelerationStructureEXT scene;
layout(set = 0, binding = 1) buffer Picture { uint pixels[]; };

void main() {
  rayQueryEXT query;
  rayQueryInitializeEXT(query, scene, gl_RayFlagsNoneEXT, 0xff, vec3(0, 0, -1), 0.0, vec3(0, 0, 1), 10.0);
  rayQueryProceedEXT(query);
  pixels[gl_GlobalInvocationID.x] = rayQueryGetIntersectionTypeEXT(query, true);
}
