#include "capture/apps/mesh_viewer/mesh_scene.hpp"

#include <algorithm>
#include <cstring>
#include <numbers>
#include <span>

#include "capture/apps/framework/instances.hpp"
#include "capture/reference/vec.hpp"

namespace rayreplay::apps {
namespace {

using reference::MaterialKind;
using reference::RenderScene;
using reference::SceneGeometry;

constexpr std::uint32_t kMaxVertices16 = 65536;
constexpr float kHolesAcross = 24;  // along a geometry's diagonal

/// Arrays of all geometries, one behind the other, each at a multiple of 16 bytes.
class ArrayStore {
 public:
  template <class T>
  VkDeviceSize add(std::span<const T> values) {
    bytes_.resize((bytes_.size() + 15) / 16 * 16);
    const VkDeviceSize offset = bytes_.size();
    const auto added = std::as_bytes(values);
    bytes_.insert(bytes_.end(), added.begin(), added.end());
    return offset;
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const {
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

template <class Array>
auto view(const Array& array) {
  return std::span(array.data(), array.size());
}

bool is_triangles(const SceneGeometry& part) {
  return part.geometry.type == trace::GeometryType::Triangles;
}

const reference::Material& first_material(const RenderScene& scene, const SceneGeometry& part) {
  return scene.materials.at(part.material.at(0));
}

/// Grows [low, high] by every vertex and box corner of a geometry.
void extend(const SceneGeometry& part, const Transform& to_world, Vec3& low, Vec3& high) {
  const auto add = [&](const Vec3& point) {
    const Vec3 world = reference::transform_point(to_world, point);
    low = low.cwiseMin(world);
    high = high.cwiseMax(world);
  };
  const auto vertices = view(part.geometry.vertices);
  for (std::size_t i = 0; i + 3 <= vertices.size(); i += 3) {
    add(Vec3(&vertices[i]));
  }
  const auto boxes = view(part.geometry.boxes);
  for (std::size_t i = 0; i + 6 <= boxes.size(); i += 6) {
    for (unsigned corner = 0; corner < 8; ++corner) {
      add({boxes[i + ((corner & 1U) != 0 ? 3 : 0)], boxes[i + ((corner & 2U) != 0 ? 4 : 1)],
           boxes[i + ((corner & 4U) != 0 ? 5 : 2)]});
    }
  }
}

float diagonal(const SceneGeometry& part) {
  Vec3 low(view(part.geometry.vertices).data());
  Vec3 high = low;
  extend(part, Transform::Identity(), low, high);
  return reference::length(high - low);
}

/// --alpha cuts holes into what no texture has holes for; lights and glass stay whole.
bool has_holes(const RenderScene& scene, const SceneGeometry& part, const ViewerOptions& viewer) {
  const reference::Material& material = first_material(scene, part);
  return viewer.alpha && is_triangles(part) && part.geometry.opaque &&
         (material.kind == MaterialKind::Diffuse || material.kind == MaterialKind::Metal);
}

VkAccelerationStructureGeometryKHR triangle_geometry(const GeometryRecord& record, const SceneGeometry& part) {
  VkAccelerationStructureGeometryKHR geometry{};
  geometry.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
  geometry.geometryType = VK_GEOMETRY_TYPE_TRIANGLES_KHR;
  VkAccelerationStructureGeometryTrianglesDataKHR& triangles = geometry.geometry.triangles;
  triangles.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_TRIANGLES_DATA_KHR;
  triangles.vertexFormat = VK_FORMAT_R32G32B32_SFLOAT;
  triangles.vertexData.deviceAddress = record.positions;
  triangles.vertexStride = 3 * sizeof(float);
  triangles.maxVertex = static_cast<std::uint32_t>(part.geometry.vertices.size() / 3 - 1);
  triangles.indexType = record.index_bits == 16 ? VK_INDEX_TYPE_UINT16 : VK_INDEX_TYPE_UINT32;
  triangles.indexData.deviceAddress = record.indices;
  return geometry;
}

}  // namespace

float scene_extent(const RenderScene& scene) {
  Vec3 low = scene.camera.from;
  Vec3 high = low;
  for (const trace::Instance& instance : scene.instances) {
    const trace::Blas& blas = scene.blases.at(instance.blas);
    for (std::uint32_t i = 0; i < blas.geometry_count; ++i) {
      extend(scene.geometries.at(blas.first_geometry + std::size_t{i}), as_transform(instance.transform), low, high);
    }
  }
  return reference::length(high - low);
}

MeshScene::MeshScene(const Device& device, const RenderScene& scene, const Options& options,
                     const ViewerOptions& viewer)
    : scene_(&scene), animate_(viewer.animate), extent_(scene_extent(scene)) {
  upload_arrays(device, viewer);
  upload_textures(device);
  choose_traits(options);
  build(device, options, viewer);
}

void MeshScene::upload_arrays(const Device& device, const ViewerOptions& viewer) {
  ArrayStore store;
  for (const SceneGeometry& part : scene_->geometries) {
    // Offsets first, made addresses below; an absent array keeps address 0.
    GeometryRecord record;
    boxes_.push_back(is_triangles(part) ? 0 : store.add(view(part.geometry.boxes)));
    if (is_triangles(part)) {
      record.positions = store.add(view(part.geometry.vertices));
      const auto indices = view(part.geometry.indices);
      const bool fits = part.geometry.vertices.size() / 3 <= kMaxVertices16;
      if (viewer.index16 && fits) {
        std::vector<std::uint16_t> narrow(indices.size());
        std::transform(indices.begin(), indices.end(), narrow.begin(),
                       [](std::uint32_t index) { return static_cast<std::uint16_t>(index); });
        record.indices = store.add(view(narrow));
        record.index_bits = 16;
      } else {
        record.indices = store.add(indices);
        kept_32_bits_ += viewer.index16 ? 1 : 0;
      }
    } else {
      record.spheres = store.add(view(part.spheres));
    }
    record.normals = store.add(view(part.normals));
    record.uvs = store.add(view(part.uvs));
    record.material_ids = store.add(view(part.material));
    records_.push_back(record);
  }
  arrays_ = upload(device, store.bytes(), kBuildInputUsage);
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const SceneGeometry& part = scene_->geometries[i];
    GeometryRecord& record = records_[i];
    const auto rebase = [&](VkDeviceAddress& address, bool present) {
      address = present ? arrays_.address() + address : 0;
    };
    rebase(record.positions, is_triangles(part));
    rebase(record.indices, is_triangles(part));
    rebase(record.spheres, !is_triangles(part));
    rebase(boxes_[i], !is_triangles(part));
    rebase(record.normals, !part.normals.empty());
    rebase(record.uvs, !part.uvs.empty());
    rebase(record.material_ids, part.material.size() > 1);
    record.material = make_record(first_material(*scene_, part));
    record.hole_size = has_holes(*scene_, part, viewer) ? diagonal(part) / kHolesAcross : 0;
  }
  std::vector<MaterialRecord> materials;
  for (const reference::Material& material : scene_->materials) {
    materials.push_back(make_record(material));
  }
  materials_ = upload(device, materials, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
}

void MeshScene::upload_textures(const Device& device) {
  struct TextureInfo {
    VkDeviceAddress texels = 0;
    std::uint32_t width = 0;
    std::uint32_t height = 0;
  };
  ArrayStore store;
  std::vector<TextureInfo> infos;
  for (const reference::Texture& texture : scene_->textures) {
    infos.push_back({store.add(view(texture.rgba)), texture.width, texture.height});
  }
  texels_ = upload(device, store.bytes(), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  for (TextureInfo& info : infos) {
    info.texels += texels_.address();
  }
  textures_ = upload(device, infos, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
}

void MeshScene::choose_traits(const Options& options) {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const SceneGeometry& part = scene_->geometries[i];
    const bool tested = options.opaque != "yes" && (!part.geometry.opaque || records_[i].hole_size > 0);
    traits_.push_back({first_material(*scene_, part).kind, !is_triangles(part), tested || options.any_hit});
    all_opaque_ &= !traits_.back().any_hit && options.opaque != "no";
  }
}

void MeshScene::build(const Device& device, const Options& options, const ViewerOptions& viewer) {
  std::vector<BottomLevelInput> inputs;
  for (const trace::Blas& blas : scene_->blases) {
    BottomLevelInput input;
    for (std::uint32_t i = 0; i < blas.geometry_count; ++i) {
      const std::size_t id = blas.first_geometry + std::size_t{i};
      const SceneGeometry& part = scene_->geometries[id];
      input.geometries.push_back(is_triangles(part) ? triangle_geometry(records_[id], part)
                                                    : box_geometry(boxes_[id], false));
      const bool opaque = !traits_[id].any_hit && options.opaque != "no";
      input.geometries.back().flags = opaque ? VK_GEOMETRY_OPAQUE_BIT_KHR : 0;
      input.ranges.push_back({static_cast<std::uint32_t>(part.geometry.primitives()), 0, 0, 0});
    }
    inputs.push_back(std::move(input));
  }
  structures_ = std::make_unique<BottomLevels>(device, inputs, viewer.compact);
}

std::vector<VkAccelerationStructureInstanceKHR> MeshScene::instances(std::uint32_t frame) const {
  constexpr double kFramesOfCycle = 16;
  constexpr double kPhaseStep = 0.618;  // neighbours move apart
  std::vector<VkAccelerationStructureInstanceKHR> result;
  for (std::size_t i = 0; i < scene_->instances.size(); ++i) {
    trace::Instance instance = scene_->instances[i];
    const std::size_t first = scene_->blases[instance.blas].first_geometry;
    // Lights stay: their places are in the list of lights.
    if (animate_ && traits_[first].kind != MaterialKind::Emissive) {
      const auto height = [&](double time) {
        return reference::sine(2 * std::numbers::pi * (time / kFramesOfCycle + static_cast<double>(i) * kPhaseStep));
      };
      instance.transform[7] += 0.01F * extent_ * (height(frame) - height(0));
    }
    result.push_back(
        make_instance(instance, structures_->address(instance.blas), 0, static_cast<std::uint32_t>(first)));
  }
  return result;
}

}  // namespace rayreplay::apps
