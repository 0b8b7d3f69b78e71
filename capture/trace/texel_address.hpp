// The texel of a recorded access to an image, packed in its 64-bit address.
//
// Contract: bits 0–15 x, 16–31 y, 32–43 z (of a 3D image) or layer (of an array; a cube's face + 6 · cube), 44–47
// level, both of the view, 48–62 the place in an array of descriptors, 63 whether the sample lies outside of the image.
// Loads, stores and atomics: x and y in texels.
// Samples: in half texels, floor(2 · u · width of the level) with u in [0, 1) after the coordinate is wrapped
// (repeat), so that the nearest texel is x / 2 and the lower texel of a linear filter is (x − 1) / 2 rounded down. A
// sample is outside if a coordinate, before or after its offset, is not in [0, 1): a sampler that does not repeat reads
// another texel there, or none. Samples of cubes are never outside. pack() needs values that fit; unpack_texel() takes
// any.
#pragma once

#include <cstdint>

namespace rayreplay::trace {

struct Texel {
  std::uint32_t x = 0, y = 0;
  std::uint32_t layer = 0;  ///< or z
  std::uint32_t level = 0;
  std::uint32_t element = 0;
  bool outside = false;  ///< of a sample

  bool operator==(const Texel&) const = default;
};

inline constexpr std::uint32_t kTexelSide = 1U << 16U, kTexelLayers = 1U << 12U, kTexelLevels = 1U << 4U,
                               kTexelElements = 1U << 15U;

[[nodiscard]] constexpr std::uint64_t pack(const Texel& t) {
  return std::uint64_t{t.x} | std::uint64_t{t.y} << 16U | std::uint64_t{t.layer} << 32U |
         std::uint64_t{t.level} << 44U | std::uint64_t{t.element} << 48U | std::uint64_t{t.outside} << 63U;
}

[[nodiscard]] constexpr Texel unpack_texel(std::uint64_t address) {
  return {static_cast<std::uint32_t>(address & 0xFFFFU),        static_cast<std::uint32_t>(address >> 16U & 0xFFFFU),
          static_cast<std::uint32_t>(address >> 32U & 0xFFFU),  static_cast<std::uint32_t>(address >> 44U & 0xFU),
          static_cast<std::uint32_t>(address >> 48U & 0x7FFFU), address >> 63U != 0};
}

}  // namespace rayreplay::trace
