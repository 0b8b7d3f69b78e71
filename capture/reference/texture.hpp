// Texture look-ups: texture coordinates of a hit, and the texel there.
//
// Contract: nearest texel, repeating, row 0 at v = 0. Colours are decoded as the square of the stored value, the
// inverse of the image's gamma of 2, which is exact. Triangles without texture coordinates use their barycentric
// weights; spheres are mapped along z.
#pragma once

#include <array>
#include <cstdint>

#include "capture/reference/scene.hpp"
#include "capture/reference/vec.hpp"

namespace rayreplay::reference {

struct TexturePoint {
  float u = 0;
  float v = 0;
};

struct Texel {
  Vec3 color{1, 1, 1};
  float alpha = 1;
};

/// `u`, `v`: barycentric weights of the second and third vertex.
[[nodiscard]] TexturePoint triangle_texture_point(const SceneGeometry& geometry, std::uint32_t primitive, float u,
                                                  float v);
/// `normal`: unit, object space.
[[nodiscard]] TexturePoint sphere_texture_point(const Vec3& normal);

/// White and opaque when the material has no texture.
[[nodiscard]] Texel look_up(const RenderScene& scene, const Material& material, TexturePoint point);

[[nodiscard]] const Material& material_of(const RenderScene& scene, const SceneGeometry& geometry,
                                          std::uint32_t primitive);

/// The alpha test of the any-hit shaders.
[[nodiscard]] bool passes_alpha_test(const RenderScene& scene, const SceneGeometry& geometry, std::uint32_t primitive,
                                     TexturePoint point);

}  // namespace rayreplay::reference
