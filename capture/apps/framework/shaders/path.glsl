// The payload of a path: everything that it carries from bounce to bounce, so that the ray-generation shader (a loop)
// and the hit shaders (recursion) can continue it in the same way.
struct Path {
  vec3 origin;
  uint random;
  vec3 direction;  // unit length
  uint bounce;     // trace calls so far
  vec3 throughput;
  uint flags;
  vec3 radiance;  // gathered so far
  float shadow_distance;
  vec3 shadow_direction;
  uint unused;
  vec3 shadow_radiance;  // to be added if nothing stands in the way
};

const uint kPathEnded = 1u;
const uint kPathTestsShadow = 2u;    // a shadow ray is to be traced before the path goes on
const uint kPathCountedLight = 4u;   // the light that this direction may meet was sampled already

// Payload locations and miss shaders.
const uint kSkyMiss = 0u;
const uint kShadowMiss = 1u;
