// Body of the ray-generation shaders: which pixel a thread renders, its camera rays, and the loop over bounces.
// Variants: RECURSION leaves the bounces to the hit shaders; REORDER uses hit objects and reorders threads by what they
// hit before shading (GL_NV_shader_invocation_reorder).
layout(set = 0, binding = 1, rgba32f) uniform image2D picture;
layout(set = 0, binding = 3, scalar) readonly buffer Swizzle {
  uint swizzle[];
};
layout(constant_id = 0) const uint kUseSwizzle = 0;
layout(constant_id = 1) const uint kReorderCall = 1;

/// The row-major number of the pixel that this thread renders.
uint pixel_of_thread() {
  const uint thread = gl_LaunchIDEXT.y * gl_LaunchSizeEXT.x + gl_LaunchIDEXT.x;
  return kUseSwizzle != 0 ? swizzle[thread] : thread;
}

void start_path(uvec2 pixel) {
  const float s = (float(pixel.x) + random_uniform(path.random)) / float(params.width);
  const float t = (float(pixel.y) + random_uniform(path.random)) / float(params.height);
  vec3 offset = vec3(0);
  if (params.lens_radius > 0) {
    const vec2 lens = random_in_unit_disk(path.random) * params.lens_radius;
    offset = params.right * lens.x + params.up * lens.y;
  }
  path.origin = params.from + offset;
  path.direction = normalize(params.top_left + params.horizontal * s - params.vertical * t - offset);
  path.bounce = 0;
  path.throughput = vec3(1);
  path.radiance = vec3(0);
  path.flags = 0;
}

#ifdef REORDER
void trace_and_shade() {
  hitObjectNV hit;
  hitObjectTraceRayNV(hit, scene, params.ray_flags, 0xFF, 0, params.sbt_stride, kSkyMiss, path.origin, params.t_min,
                      path.direction, params.t_max, 0);
  if (kReorderCall != 0) {
    // Misses together, and hits by their record in the binding table.
    const uint hint = hitObjectIsHitNV(hit) ? 1 + (hitObjectGetShaderBindingTableRecordIndexNV(hit) & 3u) : 0;
    reorderThreadNV(hit, hint, 3);
  }
  hitObjectExecuteShaderNV(hit, 0);
}
#else
void trace_and_shade() {
  traceRayEXT(scene, params.ray_flags, 0xFF, 0, params.sbt_stride, kSkyMiss, path.origin, params.t_min, path.direction,
              params.t_max, 0);
}
#endif

void main() {
  const uint index = pixel_of_thread();
  const uvec2 pixel = uvec2(index % params.width, index / params.width);
  path.random = random_start(index, push.launch, params.seed);
  vec3 sum = vec3(0);
  for (uint i = 0; i < params.samples; ++i) {
    start_path(pixel);
#ifdef RECURSION
    trace_and_shade();
#else
    while (path.bounce < params.depth && (path.flags & kPathEnded) == 0) {
      trace_and_shade();
      ++path.bounce;
      test_shadow();
    }
#endif
    sum += path.radiance;
  }
  vec3 mean = sum / float(params.samples);
  if (push.launch > 0) {
    // Later launches of a frame add samples to it.
    const vec3 before = imageLoad(picture, ivec2(pixel)).rgb;
    mean = (before * float(push.launch) + mean) / float(push.launch + 1);
  }
  imageStore(picture, ivec2(pixel), vec4(mean, 1));
}
