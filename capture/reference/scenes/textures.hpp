// Procedural textures: tileable, from a lattice noise in integers and doubles, so the same bytes everywhere.
#pragma once

#include <cstdint>

#include "capture/reference/scene.hpp"
#include "capture/reference/vec.hpp"

namespace rayreplay::reference {

/// Cloudy stone: `dark` to `light`, with veins of `dark`.
[[nodiscard]] Texture stone_texture(std::uint32_t size, const Vec3& light, const Vec3& dark, std::uint32_t seed);
/// Grain along v.
[[nodiscard]] Texture wood_texture(std::uint32_t size, const Vec3& light, const Vec3& dark, std::uint32_t seed);
/// Woven cloth with a border and a diamond pattern.
[[nodiscard]] Texture cloth_texture(std::uint32_t size, const Vec3& ground, const Vec3& pattern);
/// A five-lobed leaf with veins; alpha 0 outside.
[[nodiscard]] Texture ivy_leaf_texture(std::uint32_t size);
/// A slender leaf; alpha 0 outside.
[[nodiscard]] Texture palm_leaf_texture(std::uint32_t size);

}  // namespace rayreplay::reference
