// What every shader may read: the launch's parameters (capture/apps/framework/params.hpp has the same struct).
struct Params {
  vec3 from;
  float lens_radius;
  vec3 right;
  uint width;
  vec3 up;
  uint height;
  vec3 horizontal;
  float t_min;
  vec3 vertical;
  float t_max;
  vec3 top_left;
  uint seed;
  vec3 sky_bottom;
  uint samples;
  vec3 sky_top;
  uint depth;       // most trace calls of one path
  vec3 sun;         // direction to it
  uint ray_flags;   // gl_RayFlagsOpaqueEXT when nothing calls an any-hit shader
  vec3 sun_radiance;
  uint sbt_stride;  // records a geometry
  uint lights;      // emissive triangles to sample
  float light_power;  // of all of them
  uint hit_work;      // rounds of spend() in every closest hit
  uint unused;
};

layout(set = 0, binding = 2, std140) uniform ParamsBlock {
  Params params;
};

layout(push_constant) uniform PushConstants {
  uint launch;  // of its frame
  uint frame;
}
push;
