#include "capture/reference/meshes/gltf_materials.hpp"

#include <fmt/format.h>

#include "capture/reference/meshes/image.hpp"
#include "capture/reference/meshes/mesh_file.hpp"

namespace rayreplay::reference {
namespace {

float clamped(double value, double high) {
  return std::isfinite(value) ? static_cast<float>(std::clamp(value, 0.0, high)) : 0.0F;
}

double extension_number(const tinygltf::Material& material, const char* extension, const char* key, double fallback) {
  const auto found = material.extensions.find(extension);
  if (found == material.extensions.end() || !found->second.IsObject() || !found->second.Has(key)) {
    return fallback;
  }
  const tinygltf::Value& value = found->second.Get(key);
  return value.IsNumber() ? value.GetNumberAsDouble() : fallback;
}

Vec3 color_of(const std::vector<double>& c, double high, const Vec3& fallback) {
  return c.size() < 3 ? fallback : Vec3{clamped(c[0], high), clamped(c[1], high), clamped(c[2], high)};
}

/// Mean of a channel, 0 to 1.
double mean(const Texture& texture, std::size_t channel) {
  std::uint64_t sum = 0;
  for (std::size_t i = channel; i < texture.rgba.size(); i += 4) {
    sum += texture.rgba[i];
  }
  return static_cast<double>(sum) / (255.0 * static_cast<double>(texture.rgba.size() / 4));
}

}  // namespace

std::uint32_t GltfMaterials::id(int material, const std::string& place) {
  if (material != -1 && (material < 0 || static_cast<std::size_t>(material) >= model_.materials.size())) {
    bad_mesh(path_, place, "a material is out of range", fmt::format("{}", material),
             fmt::format("less than {}, the number of materials", model_.materials.size()));
  }
  const auto [entry, added] = ids_.emplace(material, 0U);
  if (added) {
    entry->second = material == -1 ? builder_.add_material({.name = "default", .color = {0.7F, 0.7F, 0.7F}})
                                   : convert(model_.materials[static_cast<std::size_t>(material)],
                                             fmt::format("material {}", material));
  }
  return entry->second;
}

int GltfMaterials::uv_set(int material) const {
  return material < 0
             ? 0
             : model_.materials[static_cast<std::size_t>(material)].pbrMetallicRoughness.baseColorTexture.texCoord;
}

Texture GltfMaterials::decode(int texture, const std::string& name) {
  const auto drop = [&](const std::string& reason) {
    builder_.note(fmt::format("{}: {}: texture {} dropped: {}", path_.string(), name, texture, reason));
    return Texture{};
  };
  if (texture < 0 || static_cast<std::size_t>(texture) >= model_.textures.size()) {
    return drop("there is no such texture");
  }
  const int source = model_.textures[static_cast<std::size_t>(texture)].source;
  if (source < 0 || static_cast<std::size_t>(source) >= model_.images.size()) {
    return drop("there is no such picture");
  }
  const tinygltf::Image& image = model_.images[static_cast<std::size_t>(source)];
  const std::span<const unsigned char> bytes = image_bytes(model_, image);
  if (bytes.empty()) {
    return drop(fmt::format("the picture '{}' is missing", image.uri));
  }
  Texture decoded;
  std::string reason;
  return decode_image(bytes, decoded, reason) ? decoded : drop(reason);
}

std::uint32_t GltfMaterials::texture_id(int texture, const std::string& name, bool* transparent) {
  const auto [entry, added] = textures_.emplace(texture, Stored{});
  if (added) {
    if (Texture decoded = decode(texture, name); !decoded.rgba.empty()) {
      const bool any = has_transparency(decoded);
      entry->second = {builder_.add_texture(std::move(decoded)), any};
    }
  }
  *transparent = entry->second.transparent;
  return entry->second.id;
}

std::uint32_t GltfMaterials::convert(const tinygltf::Material& from, const std::string& name) {
  const auto note = [&](const char* text) { builder_.note(fmt::format("{}: {}: {}", path_.string(), name, text)); };
  const tinygltf::PbrMetallicRoughness& pbr = from.pbrMetallicRoughness;
  Material to;
  to.name = from.name.empty() ? name : from.name;
  to.color = color_of(pbr.baseColorFactor, 1, {1, 1, 1});
  const double alpha = pbr.baseColorFactor.size() > 3 ? pbr.baseColorFactor[3] : 1.0;

  bool transparent = false;
  if (pbr.baseColorTexture.index >= 0) {
    to.texture = texture_id(pbr.baseColorTexture.index, name, &transparent);
    if (pbr.baseColorTexture.extensions.contains("KHR_texture_transform")) {
      note("the texture's transform is dropped");
    }
  }
  double metallic = pbr.metallicFactor;
  double roughness = pbr.roughnessFactor;
  if (metallic > 0.5 && pbr.metallicRoughnessTexture.index >= 0) {
    if (const Texture map = decode(pbr.metallicRoughnessTexture.index, name); !map.rgba.empty()) {
      metallic *= mean(map, 2);
      roughness *= mean(map, 1);
      note("the metallic-roughness texture is replaced by its mean");
    }
  }

  const double strength = extension_number(from, "KHR_materials_emissive_strength", "emissiveStrength", 1);
  const Vec3 emission = color_of(from.emissiveFactor, 1, {0, 0, 0}) * clamped(strength, 1e6);
  const bool blended = from.alphaMode == "BLEND";
  if (emission.maxCoeff() > 0 && from.emissiveTexture.index < 0) {
    to.kind = MaterialKind::Emissive;
    to.color = emission;
    to.texture = kNoTexture;
  } else if (extension_number(from, "KHR_materials_transmission", "transmissionFactor", 0) > 0.5 ||
             (blended && alpha < 1 && pbr.baseColorTexture.index < 0)) {
    to.kind = MaterialKind::Dielectric;
    const double index = extension_number(from, "KHR_materials_ior", "ior", 1.5);
    to.refraction_index = index >= 1 && index < 10 ? static_cast<float>(index) : 1.5F;
  } else if (metallic > 0.5) {
    to.kind = MaterialKind::Metal;
    to.fuzz = clamped(roughness * roughness, 1);
  }
  if (from.emissiveTexture.index >= 0 && emission.maxCoeff() > 0) {
    note("the emissive texture is dropped");
  }
  if (from.normalTexture.index >= 0) {
    note("the normal map is dropped");
  }

  bool alpha_tested = false;
  if (from.alphaMode == "MASK") {
    alpha_tested = true;
    to.alpha_cutoff = clamped(from.alphaCutoff, 1e6);
  } else if (blended && transparent && to.kind != MaterialKind::Dielectric) {
    alpha_tested = true;
    note("blending is replaced by an alpha test at 0.5");
  }
  return builder_.add_material(to, alpha_tested);
}

}  // namespace rayreplay::reference
