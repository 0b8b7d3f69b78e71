// Pictures in memory as textures.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "capture/reference/scene.hpp"

namespace rayreplay::reference {

/// Decodes a PNG, JPEG, BMP or TGA picture of at most 2^26 texels. False, with the reason, if that fails.
[[nodiscard]] bool decode_image(std::span<const unsigned char> bytes, Texture& texture, std::string& reason);

/// Whether any texel is not opaque.
[[nodiscard]] bool has_transparency(const Texture& texture);

}  // namespace rayreplay::reference
