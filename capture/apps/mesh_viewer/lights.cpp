#include "capture/apps/mesh_viewer/lights.hpp"

#include <cmath>
#include <utility>

#include "capture/reference/vec.hpp"

namespace rayreplay::apps {
namespace {

Float3 to_array(const Vec3& v) {
  return {v.x(), v.y(), v.z()};
}

class Collector {
 public:
  explicit Collector(const reference::RenderScene& scene) : scene_(&scene) {}

  void add(const reference::SceneGeometry& part, const trace::Instance& instance) {
    const Transform to_world = as_transform(instance.transform);
    for (std::size_t primitive = 0; primitive < part.geometry.primitives(); ++primitive) {
      const auto corner = [&](std::size_t k) {
        const float* p = part.geometry.vertices.data() + std::size_t{part.geometry.indices[primitive * 3 + k]} * 3;
        return reference::transform_point(to_world, Vec3(p));
      };
      const std::uint32_t material = part.material.size() == 1 ? part.material[0] : part.material[primitive];
      const Vec3 color = scene_->materials.at(material).color;
      const Vec3 a = corner(0);
      const Vec3 edge1 = corner(1) - a;
      const Vec3 edge2 = corner(2) - a;
      const float area = 0.5F * reference::length(edge1.cross(edge2));
      const float power = area * color.maxCoeff();
      if (power > 0 && std::isfinite(power)) {
        sum_ += static_cast<double>(power);
        lights_.push_back({to_array(a), static_cast<float>(sum_), to_array(edge1), area / power, to_array(edge2), 0,
                           to_array(color), 0});
      }
    }
  }
  /// Densities need the power of all.
  [[nodiscard]] std::vector<LightRecord> finish() && {
    for (LightRecord& light : lights_) {
      light.inverse_density *= static_cast<float>(sum_);
    }
    return std::move(lights_);
  }

 private:
  const reference::RenderScene* scene_;
  std::vector<LightRecord> lights_;
  double sum_ = 0;
};

bool is_textured(const reference::RenderScene& scene, const reference::SceneGeometry& part) {
  for (const std::uint32_t material : part.material) {
    if (scene.materials.at(material).texture != reference::kNoTexture) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<LightRecord> find_lights(const reference::RenderScene& scene, std::vector<GeometryRecord>& records) {
  Collector collector(scene);
  for (const trace::Instance& instance : scene.instances) {
    const trace::Blas& blas = scene.blases.at(instance.blas);
    for (std::uint32_t i = 0; i < blas.geometry_count; ++i) {
      const std::size_t id = blas.first_geometry + std::size_t{i};
      const reference::SceneGeometry& part = scene.geometries.at(id);
      const bool emissive = scene.materials.at(part.material.at(0)).kind == reference::MaterialKind::Emissive;
      if (emissive && instance.mask != 0 && part.geometry.type == trace::GeometryType::Triangles &&
          !is_textured(scene, part)) {
        collector.add(part, instance);
        records.at(id).sampled_light = 1;
      }
    }
  }
  return std::move(collector).finish();
}

}  // namespace rayreplay::apps
