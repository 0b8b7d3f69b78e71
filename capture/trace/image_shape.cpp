#include "capture/trace/image_shape.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace rayreplay::trace {
namespace {

std::uint64_t blocks(std::uint32_t texels, std::uint32_t side) {
  return (std::uint64_t{texels} + side - 1) / side;
}

/// Bytes of level 0 of all layers; more than kMostImageBytes where that is exceeded. Sides are in their limits.
std::uint64_t bytes_of(const ImageShape& shape) {
  const std::uint64_t slice = blocks(shape.width, shape.block_width) * blocks(shape.height, shape.block_height);
  const std::uint64_t slices = std::uint64_t{shape.depth} * shape.layers;  // one of them is 1
  const std::uint64_t most = kMostImageBytes / shape.block_bytes;
  return slice > most / slices ? kMostImageBytes + 1 : slice * slices * shape.block_bytes;
}

}  // namespace

ImageShape image_shape(const Images& images, std::size_t row) {
  return {images.width[row],  images.height[row],      images.depth[row],        images.layers[row],
          images.levels[row], images.block_width[row], images.block_height[row], images.block_bytes[row]};
}

std::string image_shape_fault(const ImageShape& shape, std::uint32_t base_layer, std::uint32_t base_level) {
  const auto beyond = [](std::uint32_t value, std::uint32_t most) { return value == 0 || value > most; };
  if (beyond(shape.width, kMostImageSide) || beyond(shape.height, kMostImageSide) ||
      beyond(shape.depth, kMostImageSide) || beyond(shape.layers, kMostImageSide)) {
    return fmt::format("the image's size is out of range: {}x{}x{} with {} layers, not 1 to {} each", shape.width,
                       shape.height, shape.depth, shape.layers, kMostImageSide);
  }
  if (shape.depth > 1 && shape.layers > 1) {
    return fmt::format("the image has a depth ({}) and layers ({})", shape.depth, shape.layers);
  }
  const auto most_levels =
      static_cast<std::uint32_t>(std::bit_width(std::max({shape.width, shape.height, shape.depth})));
  if (beyond(shape.levels, most_levels)) {
    return fmt::format("the image's levels are out of range: {}, not 1 to {}", shape.levels, most_levels);
  }
  if (beyond(shape.block_width, kMostBlockSide) || beyond(shape.block_height, kMostBlockSide) ||
      beyond(shape.block_bytes, kMostBlockBytes)) {
    return fmt::format("the image's blocks are out of range: {}x{} texels of {} bytes, not 1 to {} each and 1 to {}",
                       shape.block_width, shape.block_height, shape.block_bytes, kMostBlockSide, kMostBlockBytes);
  }
  if (bytes_of(shape) > kMostImageBytes) {
    return fmt::format("the image has more than {} bytes", kMostImageBytes);
  }
  if (base_layer >= std::max(shape.layers, shape.depth)) {
    return fmt::format("the view's first layer is out of range: {}, not less than {}", base_layer,
                       std::max(shape.layers, shape.depth));
  }
  if (base_level >= shape.levels) {
    return fmt::format("the view's first level is out of range: {}, not less than {}", base_level, shape.levels);
  }
  return {};
}

}  // namespace rayreplay::trace
