#include "capture/reference/surface.hpp"

#include <algorithm>
#include <cmath>

#include "capture/reference/texture.hpp"

namespace rayreplay::reference {
namespace {

Vec3 point_at(const float* values, std::uint32_t row) {
  return Vec3(values + std::size_t{row} * 3);
}

Vec3 facing(const Vec3& normal, const Vec3& direction) {
  return dot(normal, direction) > 0 ? -normal : normal;
}

/// The instance's transform of a normal, of unit length; outward stays outward under a mirroring transform.
Vec3 world_normal(const trace::Instance& instance, bool identity, const Vec3& normal) {
  if (identity) {
    return normalize(normal);
  }
  const Transform to_world = as_transform(instance.transform);
  const Vec3 turned = normalize(transform_normal(to_world, normal));
  return is_mirroring(to_world) ? -turned : turned;
}

void fill_triangle(Surface& surface, const SceneGeometry& geometry, const trace::Instance& instance, bool identity,
                   const Hit& hit, const Vec3& direction) {
  const std::uint32_t* corner = &geometry.geometry.indices[std::size_t{hit.primitive} * 3];
  const float* vertices = geometry.geometry.vertices.data();
  const Vec3 a = point_at(vertices, corner[0]);
  const Vec3 face = (point_at(vertices, corner[1]) - a).cross(point_at(vertices, corner[2]) - a);
  surface.geometric_normal = facing(world_normal(instance, identity, face), direction);
  surface.normal = surface.geometric_normal;
  if (!geometry.normals.empty()) {
    const float* normals = geometry.normals.data();
    const Vec3 smooth = point_at(normals, corner[0]) * (1 - hit.u - hit.v) + point_at(normals, corner[1]) * hit.u +
                        point_at(normals, corner[2]) * hit.v;
    const Vec3 turned = world_normal(instance, identity, smooth);
    const Vec3 sided = dot(turned, surface.geometric_normal) < 0 ? -turned : turned;
    // A smooth normal that looks away from the ray would reflect it into the surface.
    if (dot(sided, direction) < 0) {
      surface.normal = sided;
    }
  }
  surface.front = hit.hit_kind == trace::kHitKindFrontFacing;
}

/// How far the ray is bent: Snell's law by components, for unit vectors.
Vec3 refract(const Vec3& direction, const Vec3& normal, float cosine, float ratio) {
  const Vec3 perpendicular = (direction + normal * cosine) * ratio;
  const float parallel = std::sqrt(std::abs(1 - dot(perpendicular, perpendicular)));
  return perpendicular - normal * parallel;
}

float schlick_reflectance(float cosine, float ratio) {
  const float root = (1 - ratio) / (1 + ratio);
  const float r0 = root * root;
  const float x = 1 - cosine;
  const float x2 = x * x;
  return r0 + (1 - r0) * (x2 * x2 * x);
}

Vec3 reflect(const Vec3& direction, const Vec3& normal) {
  return direction - normal * (2 * dot(direction, normal));
}

Scattered scatter_diffuse(const Surface& surface, Random& random) {
  Vec3 direction = normalize(surface.normal + random.unit_vector());
  if (dot(direction, surface.geometric_normal) <= 0) {
    // Below the surface, from a smooth normal or from a sum of zero length.
    direction = surface.geometric_normal;
  }
  return {false, true, direction, surface.color};
}

Scattered scatter_metal(const Surface& surface, const Vec3& direction, Random& random) {
  const Vec3 fuzz = random.in_unit_sphere() * surface.material->fuzz;
  const Vec3 reflected = normalize(reflect(direction, surface.normal) + fuzz);
  return {!(dot(reflected, surface.geometric_normal) > 0), false, reflected, surface.color};
}

Scattered scatter_dielectric(const Surface& surface, const Vec3& direction, Random& random) {
  const float index = surface.material->refraction_index;
  const float ratio = surface.front ? 1 / index : index;
  const float cosine = std::min(-dot(direction, surface.normal), 1.0F);
  const float sine = std::sqrt(std::max(0.0F, 1 - cosine * cosine));
  const bool total = ratio * sine > 1;
  const bool reflects = schlick_reflectance(cosine, ratio) > random.uniform();
  const Vec3 next =
      total || reflects ? reflect(direction, surface.normal) : refract(direction, surface.normal, cosine, ratio);
  return {false, false, normalize(next), surface.color};
}

}  // namespace

Surface make_surface(const Accelerator& accelerator, const Ray& ray, const Hit& hit) {
  const RenderScene& scene = accelerator.scene();
  const SceneGeometry& geometry = scene.geometries[hit.geometry];
  const trace::Instance& instance = scene.instances[hit.instance];
  const auto& record = accelerator.instance(hit.instance);
  Surface surface;
  surface.point = ray.origin + ray.direction * hit.t;
  surface.material = &material_of(scene, geometry, hit.primitive);
  TexturePoint point;
  if (geometry.geometry.type == trace::GeometryType::Triangles) {
    fill_triangle(surface, geometry, instance, record.identity, hit, ray.direction);
    point = triangle_texture_point(geometry, hit.primitive, hit.u, hit.v);
  } else {
    const PreciseRay world = precise_ray(ray.origin, ray.direction);
    const PreciseRay object = record.identity ? world : transform_ray(world, record.to_object);
    const float* sphere = &geometry.spheres[std::size_t{hit.primitive} * 4];
    const Vec3 outward = sphere_normal(object, hit.t, sphere);
    surface.geometric_normal = facing(world_normal(instance, record.identity, outward), ray.direction);
    surface.normal = surface.geometric_normal;
    surface.front = hit.hit_kind == 0;
    point = sphere_texture_point(normalize(outward));
  }
  surface.color = surface.material->color.cwiseProduct(look_up(scene, *surface.material, point).color);
  return surface;
}

Scattered scatter(const Surface& surface, const Vec3& direction, Random& random) {
  switch (surface.material->kind) {
    case MaterialKind::Diffuse:
      return scatter_diffuse(surface, random);
    case MaterialKind::Metal:
      return scatter_metal(surface, direction, random);
    case MaterialKind::Dielectric:
      return scatter_dielectric(surface, direction, random);
    case MaterialKind::Emissive:
      break;
  }
  return {true, false, {}, {}};
}

}  // namespace rayreplay::reference
