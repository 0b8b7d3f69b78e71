#include "capture/reference/texture.hpp"

#include <algorithm>
#include <cmath>

namespace rayreplay::reference {
namespace {

/// Row or column of the texel at coordinate `x`.
std::uint32_t wrap(float x, std::uint32_t size) {
  if (!std::isfinite(x)) {
    return 0;
  }
  const float fraction = x - std::floor(x);
  return std::min(static_cast<std::uint32_t>(fraction * static_cast<float>(size)), size - 1);
}

float decode(std::uint8_t value) {
  const float x = static_cast<float>(value) / 255.0F;
  return x * x;
}

}  // namespace

TexturePoint triangle_texture_point(const SceneGeometry& geometry, std::uint32_t primitive, float u, float v) {
  if (geometry.uvs.empty()) {
    return {u, v};
  }
  const std::uint32_t* corner = &geometry.geometry.indices[std::size_t{primitive} * 3];
  const float* a = &geometry.uvs[std::size_t{corner[0]} * 2];
  const float* b = &geometry.uvs[std::size_t{corner[1]} * 2];
  const float* c = &geometry.uvs[std::size_t{corner[2]} * 2];
  const float w = 1 - u - v;
  return {w * a[0] + u * b[0] + v * c[0], w * a[1] + u * b[1] + v * c[1]};
}

TexturePoint sphere_texture_point(const Vec3& normal) {
  return {0.5F + 0.5F * normal.x(), 0.5F + 0.5F * normal.y()};
}

Texel look_up(const RenderScene& scene, const Material& material, TexturePoint point) {
  if (material.texture == kNoTexture) {
    return {};
  }
  const Texture& texture = scene.textures[material.texture];
  const std::size_t column = wrap(point.u, texture.width);
  const std::size_t row = wrap(point.v, texture.height);
  const std::uint8_t* texel = &texture.rgba[(row * texture.width + column) * 4];
  return {{decode(texel[0]), decode(texel[1]), decode(texel[2])}, static_cast<float>(texel[3]) / 255.0F};
}

const Material& material_of(const RenderScene& scene, const SceneGeometry& geometry, std::uint32_t primitive) {
  return scene.materials[geometry.material.size() == 1 ? geometry.material[0] : geometry.material[primitive]];
}

bool passes_alpha_test(const RenderScene& scene, const SceneGeometry& geometry, std::uint32_t primitive,
                       TexturePoint point) {
  const Material& material = material_of(scene, geometry, primitive);
  return look_up(scene, material, point).alpha >= material.alpha_cutoff;
}

}  // namespace rayreplay::reference
