#include "capture/apps/one_weekend/spheres.hpp"

#include "base/error.hpp"
#include "capture/apps/framework/instances.hpp"
#include "capture/apps/framework/params.hpp"

namespace rayreplay::apps {
namespace {

/// Where the parts of a geometry lie in the arrays of all.
struct FirstRows {
  std::uint32_t sphere = 0;
  VkDeviceSize box = 0;  ///< in bytes
};

}  // namespace

SphereScene::SphereScene(const Device& device, const reference::RenderScene& scene, bool opaque, bool per_material) {
  std::vector<float> spheres;
  std::vector<float> boxes;
  std::vector<MaterialRecord> materials;
  std::vector<FirstRows> first;
  for (const reference::SceneGeometry& part : scene.geometries) {
    if (part.geometry.type != trace::GeometryType::Boxes) {
      throw Error(ErrorKind::Input, {"the scene holds triangles", scene.name, part.geometry.name, "spheres", ""});
    }
    // Boxes must lie at multiples of 8 bytes, and six floats are one.
    first.push_back({static_cast<std::uint32_t>(spheres.size() / 4), boxes.size() * sizeof(float)});
    spheres.insert(spheres.end(), part.spheres.begin(), part.spheres.end());
    boxes.insert(boxes.end(), part.geometry.boxes.begin(), part.geometry.boxes.end());
    for (std::size_t i = 0; i < part.geometry.primitives(); ++i) {
      const std::uint32_t material = part.material.size() == 1 ? part.material[0] : part.material[i];
      materials.push_back(make_record(scene.materials.at(material)));
    }
  }
  spheres_ = upload(device, spheres, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  materials_ = upload(device, materials, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  const Buffer box_buffer = upload(device, boxes, kBuildInputUsage);

  std::vector<BottomLevelInput> inputs;
  for (const trace::Blas& blas : scene.blases) {
    BottomLevelInput input;
    for (std::uint32_t i = 0; i < blas.geometry_count; ++i) {
      const std::size_t id = blas.first_geometry + std::size_t{i};
      const auto count = static_cast<std::uint32_t>(scene.geometries[id].geometry.primitives());
      input.geometries.push_back(box_geometry(box_buffer.address() + first[id].box, opaque));
      input.ranges.push_back({count, 0, 0, 0});
    }
    inputs.push_back(std::move(input));
  }
  structures_ = std::make_unique<BottomLevels>(device, inputs, false);
  for (const trace::Instance& instance : scene.instances) {
    const std::size_t geometry = scene.blases[instance.blas].first_geometry;
    instances_.push_back(make_instance(instance, structures_->address(instance.blas), first[geometry].sphere,
                                       per_material ? instance.hit_group_offset : 0));
  }
}

}  // namespace rayreplay::apps
