// What a material does with light, as in "Ray Tracing in One Weekend" (Shirley, 2020, §9 to §11) and in the built-in
// tracer (capture/reference/surface.cpp): it draws the same kinds of numbers in the same order.
struct Material {
  vec3 color;  // albedo, or emitted radiance
  uint kind;
  float fuzz;
  float refraction_index;
  uint texture_id;  // kNoTexture: none
  float alpha_cutoff;
};

const uint kDiffuse = 0u;
const uint kMetal = 1u;
const uint kDielectric = 2u;
const uint kEmissive = 3u;

struct Surface {
  vec3 point;
  vec3 normal;            // faces the ray, unit length
  vec3 geometric_normal;  // likewise, of the surface itself
  bool front;             // the ray comes from outside
  vec3 color;
  Material material;
};

/// `rounds` multiply-adds, each of which waits for the one before: a shader of any cost. The picture does not change, but
/// no compiler can know that.
void spend(inout Path path, uint rounds) {
  float value = path.origin.x;
  for (uint i = 0; i < rounds; ++i) {
    value = value * 0.999 + 0.5;
  }
  if (value == 1e30) {
    path.radiance.x = value;
  }
}

void leave(inout Path path, Surface surface, vec3 direction) {
  path.origin = surface.point;
  path.direction = direction;
  path.throughput *= surface.color;
}

void scatter_diffuse(inout Path path, Surface surface) {
  const vec3 sum = surface.normal + random_unit_vector(path.random);
  // Below the surface, from a smooth normal or from a sum of zero length: straight up instead.
  const bool above = dot(sum, surface.geometric_normal) > 0;
  leave(path, surface, above ? normalize(sum) : surface.geometric_normal);
}

void scatter_metal(inout Path path, Surface surface) {
  const vec3 fuzz = random_in_unit_sphere(path.random) * surface.material.fuzz;
  const vec3 direction = normalize(reflect(path.direction, surface.normal) + fuzz);
  if (!(dot(direction, surface.geometric_normal) > 0)) {
    path.flags |= kPathEnded;
    return;
  }
  leave(path, surface, direction);
}

float schlick_reflectance(float cosine, float ratio) {
  const float root = (1 - ratio) / (1 + ratio);
  const float r0 = root * root;
  const float x = 1 - cosine;
  return r0 + (1 - r0) * (x * x * x * x * x);
}

void scatter_dielectric(inout Path path, Surface surface) {
  const float ratio = surface.front ? 1 / surface.material.refraction_index : surface.material.refraction_index;
  const float cosine = min(-dot(path.direction, surface.normal), 1);
  const float sine = sqrt(max(0, 1 - cosine * cosine));
  const bool reflects = schlick_reflectance(cosine, ratio) > random_uniform(path.random);
  vec3 direction = reflect(path.direction, surface.normal);
  if (ratio * sine <= 1 && !reflects) {
    const vec3 perpendicular = (path.direction + surface.normal * cosine) * ratio;
    direction = perpendicular - surface.normal * sqrt(abs(1 - dot(perpendicular, perpendicular)));
  }
  leave(path, surface, normalize(direction));
}
