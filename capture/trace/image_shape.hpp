// The size of an image in a trace, and its limits.
//
// Contract: `image_shape_fault` says why a row of trace::Images cannot have a shape and a view; empty: it can. Within
// the limits a byte of any level and layer has a place below 2^45, so that places can be added up without overflow.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

struct ImageShape {
  std::uint32_t width = 0, height = 0, depth = 0, layers = 0, levels = 0;
  std::uint32_t block_width = 0, block_height = 0, block_bytes = 0;

  auto operator<=>(const ImageShape&) const = default;
};

inline constexpr std::uint32_t kMostImageSide = 1U << 16U;     ///< width, height, depth; layers
inline constexpr std::uint32_t kMostBlockSide = 16;            ///< in texels
inline constexpr std::uint32_t kMostBlockBytes = 1U << 11U;    ///< 32 bytes of 64 samples
inline constexpr std::uint64_t kMostImageBytes = 1ULL << 44U;  ///< level 0 of all layers

/// Requires that the row is there.
[[nodiscard]] ImageShape image_shape(const Images& images, std::size_t row);

/// The view starts at `base_layer` (of a 3D image: a slice) and `base_level`.
[[nodiscard]] std::string image_shape_fault(const ImageShape& shape, std::uint32_t base_layer,
                                            std::uint32_t base_level);

}  // namespace rayreplay::trace
