// A scene of meshes (and procedural spheres) on the device.
//
// Contract: bottom-level structure i has the geometries of scene.blases[i], instances keep the scene's order. A
// geometry's shader record has its number: instances carry their structure's first geometry as hit-group offset, and
// trace calls use a stride of 1. Records hold addresses into this object's buffers, so it must outlive every launch.
// Errors: Usage for a light that the scene lacks; those of result.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "capture/apps/framework/acceleration.hpp"
#include "capture/apps/framework/buffer.hpp"
#include "capture/apps/framework/options.hpp"
#include "capture/apps/framework/params.hpp"
#include "capture/apps/mesh_viewer/viewer_options.hpp"
#include "capture/reference/scene.hpp"

namespace rayreplay::apps {

/// The data of a geometry's shader record: shaders/records.glsl in C++.
struct GeometryRecord {
  VkDeviceAddress positions = 0;
  VkDeviceAddress indices = 0;
  VkDeviceAddress normals = 0;
  VkDeviceAddress uvs = 0;
  VkDeviceAddress material_ids = 0;
  VkDeviceAddress spheres = 0;
  MaterialRecord material;
  std::uint32_t index_bits = 32;
  float hole_size = 0;
  std::uint32_t sampled_light = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(GeometryRecord) == 96);

/// What decides a geometry's hit group.
struct GeometryTraits {
  reference::MaterialKind kind = reference::MaterialKind::Diffuse;
  bool spheres = false;
  bool any_hit = false;  ///< an any-hit shader is to be there
};

class MeshScene {
 public:
  MeshScene(const Device& device, const reference::RenderScene& scene, const Options& options,
            const ViewerOptions& viewer);

  [[nodiscard]] const std::vector<GeometryRecord>& records() const {
    return records_;
  }
  [[nodiscard]] const std::vector<GeometryTraits>& traits() const {
    return traits_;
  }
  [[nodiscard]] const Buffer& materials() const {
    return materials_;
  }
  [[nodiscard]] const Buffer& textures() const {
    return textures_;
  }
  /// Whether every trace call may pass the Opaque flag.
  [[nodiscard]] bool all_opaque() const {
    return all_opaque_;
  }
  /// Geometries that --index16 could not serve: more than 65536 vertices.
  [[nodiscard]] std::size_t kept_32_bits() const {
    return kept_32_bits_;
  }
  /// Of a frame: with --animate instances move up and down; frame 0 is the scene as it is.
  [[nodiscard]] std::vector<VkAccelerationStructureInstanceKHR> instances(std::uint32_t frame) const;

 private:
  void upload_arrays(const Device& device, const ViewerOptions& viewer);
  void upload_textures(const Device& device);
  void choose_traits(const Options& options);
  void build(const Device& device, const Options& options, const ViewerOptions& viewer);

  const reference::RenderScene* scene_;
  bool animate_;
  float extent_;
  bool all_opaque_ = true;
  std::size_t kept_32_bits_ = 0;
  Buffer arrays_;
  Buffer materials_;
  Buffer texels_;
  Buffer textures_;
  std::vector<VkDeviceAddress> boxes_;  ///< per geometry
  std::vector<GeometryRecord> records_;
  std::vector<GeometryTraits> traits_;
  std::unique_ptr<BottomLevels> structures_;
};

/// The diagonal of the instances' world box, the camera included.
[[nodiscard]] float scene_extent(const reference::RenderScene& scene);

}  // namespace rayreplay::apps
