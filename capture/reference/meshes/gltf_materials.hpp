// glTF materials as materials of the scene.
#pragma once

#include <filesystem>
#include <map>
#include <vector>

#include "capture/reference/meshes/gltf_model.hpp"
#include "capture/reference/scenes/scene_builder.hpp"

namespace rayreplay::reference {

/// Converts on first use and notes what is dropped. An emissive factor without a texture: Emissive. Transmission above
/// 0.5, or alpha mode BLEND with a constant alpha below 1: Dielectric. Metallic above 0.5 (the texture's mean
/// included): Metal with the squared roughness as fuzz. Else Diffuse. Alpha mode MASK, and BLEND with a texture:
/// alpha-tested.
class GltfMaterials {
 public:
  GltfMaterials(const tinygltf::Model& model, const std::filesystem::path& path, SceneBuilder& builder)
      : model_(model), path_(path), builder_(builder) {}

  /// -1: none given. Throws Input for an id out of range, naming `place`.
  std::uint32_t id(int material, const std::string& place);
  /// Which TEXCOORD_n the material's texture uses; for a valid id or -1.
  [[nodiscard]] int uv_set(int material) const;

 private:
  std::uint32_t convert(const tinygltf::Material& from, const std::string& name);
  /// Decodes a texture's picture; empty, with a note, if it has none.
  Texture decode(int texture, const std::string& name);
  std::uint32_t texture_id(int texture, const std::string& name, bool* transparent);

  const tinygltf::Model& model_;
  std::filesystem::path path_;
  SceneBuilder& builder_;
  std::map<int, std::uint32_t> ids_;
  struct Stored {
    std::uint32_t id = kNoTexture;
    bool transparent = false;
  };
  std::map<int, Stored> textures_;
};

}  // namespace rayreplay::reference
