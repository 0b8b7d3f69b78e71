#include "capture/reference/lights.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "capture/reference/texture.hpp"

namespace rayreplay::reference {
namespace {

constexpr float kPi = std::numbers::pi_v<float>;

struct Corners {
  Vec3 a, b, c;
};

Corners world_corners(const RenderScene& scene, std::uint32_t instance, const SceneGeometry& geometry,
                      std::uint32_t primitive) {
  const Transform to_world = as_transform(scene.instances[instance].transform);
  const auto corner = [&](std::size_t k) {
    const std::uint32_t index = geometry.geometry.indices[std::size_t{primitive} * 3 + k];
    return transform_point(to_world, Vec3(&geometry.geometry.vertices[std::size_t{index} * 3]));
  };
  return {corner(0), corner(1), corner(2)};
}

float triangle_area(const Corners& t) {
  return 0.5F * length((t.b - t.a).cross(t.c - t.a));
}

}  // namespace

Lights::Lights(const RenderScene& scene) : scene_(&scene) {
  double sum = 0;
  for (std::uint32_t instance = 0; instance < scene.instances.size(); ++instance) {
    if (scene.instances[instance].mask == 0) {
      continue;
    }
    const auto& blas = scene.blases[scene.instances[instance].blas];
    for (std::uint32_t g = blas.first_geometry; g < blas.first_geometry + blas.geometry_count; ++g) {
      const SceneGeometry& geometry = scene.geometries[g];
      const auto count = static_cast<std::uint32_t>(geometry.geometry.primitives());
      for (std::uint32_t primitive = 0; primitive < count; ++primitive) {
        const Material& material = material_of(scene, geometry, primitive);
        if (material.kind != MaterialKind::Emissive) {
          break;  // a geometry has one kind of material
        }
        float area = 0;
        if (geometry.geometry.type == trace::GeometryType::Triangles) {
          area = triangle_area(world_corners(scene, instance, geometry, primitive));
        } else {
          // Any positive weight keeps the estimate unbiased; this weight is exact for similarity transforms.
          const float radius = length(transform_vector(as_transform(scene.instances[instance].transform),
                                                       {geometry.spheres[std::size_t{primitive} * 4 + 3], 0, 0}));
          area = 4 * kPi * radius * radius;
        }
        const double power = static_cast<double>(area) * static_cast<double>(material.color.maxCoeff());
        if (power > 0 && std::isfinite(power)) {
          sum += power;
          lights_.push_back({instance, g, primitive, power, sum});
        }
      }
    }
  }
}

LightSample Lights::sample(Random& random) const {
  const double total = lights_.back().cumulative;
  const double place = static_cast<double>(random.uniform()) * total;
  const auto found = std::upper_bound(lights_.begin(), lights_.end(), place,
                                      [](double value, const Light& light) { return value < light.cumulative; });
  const Light& light = found == lights_.end() ? lights_.back() : *found;
  const bool triangle = scene_->geometries[light.geometry].geometry.type == trace::GeometryType::Triangles;
  LightSample sample = triangle ? on_triangle(light, random) : on_sphere(light, random);
  sample.inverse_density *= static_cast<float>(total / light.power);
  return sample;
}

LightSample Lights::on_triangle(const Light& light, Random& random) const {
  const SceneGeometry& geometry = scene_->geometries[light.geometry];
  const Corners corners = world_corners(*scene_, light.instance, geometry, light.primitive);
  float u = random.uniform();
  float v = random.uniform();
  if (u + v > 1) {
    u = 1 - u;
    v = 1 - v;
  }
  const Material& material = material_of(*scene_, geometry, light.primitive);
  LightSample sample;
  sample.point = corners.a * (1 - u - v) + corners.b * u + corners.c * v;
  sample.normal = normalize((corners.b - corners.a).cross(corners.c - corners.a));
  sample.two_sided = true;
  sample.radiance = material.color.cwiseProduct(
      look_up(*scene_, material, triangle_texture_point(geometry, light.primitive, u, v)).color);
  sample.inverse_density = triangle_area(corners);
  return sample;
}

LightSample Lights::on_sphere(const Light& light, Random& random) const {
  const SceneGeometry& geometry = scene_->geometries[light.geometry];
  const Transform to_world = as_transform(scene_->instances[light.instance].transform);
  const float* sphere = &geometry.spheres[std::size_t{light.primitive} * 4];
  const Vec3 outward = random.unit_vector();
  const Material& material = material_of(*scene_, geometry, light.primitive);
  // The cofactor matrix applied to a unit normal is the ratio of world to object area there.
  const Vec3 area_normal = transform_normal(to_world, outward);
  const Vec3 unit = normalize(area_normal);
  LightSample sample;
  sample.point = transform_point(to_world, Vec3(sphere) + outward * sphere[3]);
  sample.normal = is_mirroring(to_world) ? -unit : unit;
  sample.radiance = material.color.cwiseProduct(look_up(*scene_, material, sphere_texture_point(outward)).color);
  sample.inverse_density = 4 * kPi * sphere[3] * sphere[3] * length(area_normal);
  return sample;
}

}  // namespace rayreplay::reference
