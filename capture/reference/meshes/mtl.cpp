#include "capture/reference/meshes/mtl.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

// Compiles tinyobjloader.
#define TINYOBJLOADER_IMPLEMENTATION
#include <tiny_obj_loader.h>

#include "capture/reference/vec.hpp"

namespace rayreplay::reference {
namespace {

float clamped(float value, float high) {
  return std::isfinite(value) ? std::clamp(value, 0.0F, high) : 0.0F;
}

Vec3 color(const tinyobj::real_t (&c)[3], float high) {
  return {clamped(c[0], high), clamped(c[1], high), clamped(c[2], high)};
}

Material convert(const tinyobj::material_t& from) {
  Material to;
  to.name = from.name;
  to.color = color(from.diffuse, 1);
  const bool glass = (from.illum >= 4 && from.illum <= 7) || (from.dissolve < 1 && from.alpha_texname.empty());
  if (const Vec3 emission = color(from.emission, 1e6F); emission.maxCoeff() > 0) {
    to.kind = MaterialKind::Emissive;
    to.color = emission;
  } else if (glass) {
    to.kind = MaterialKind::Dielectric;
    to.color = {1, 1, 1};
    to.refraction_index = from.ior > 1 && from.ior < 10 ? from.ior : 1.5F;
  } else if (from.metallic > 0.5F || from.illum == 3) {
    to.kind = MaterialKind::Metal;
    if (const Vec3 specular = color(from.specular, 1); from.illum == 3 && specular.maxCoeff() > 0) {
      to.color = specular;
    }
    // A Phong exponent of n spreads about as a roughness of sqrt(2 / (n + 2)).
    const float roughness = from.roughness > 0 ? from.roughness : std::sqrt(2 / (clamped(from.shininess, 1e6F) + 2));
    to.fuzz = clamped(roughness * roughness, 1);
  }
  return to;
}

}  // namespace

std::vector<MtlMaterial> parse_mtl(const std::string& text) {
  std::istringstream stream(text);
  std::map<std::string, int> ids;
  std::vector<tinyobj::material_t> parsed;
  std::string warning;
  std::string error;
  tinyobj::LoadMtl(&ids, &parsed, &stream, &warning, &error);
  std::vector<MtlMaterial> materials;
  for (const auto& material : parsed) {
    if (!material.name.empty()) {
      materials.push_back({convert(material), material.diffuse_texname, material.alpha_texname});
    }
  }
  return materials;
}

}  // namespace rayreplay::reference
