// The memory of a whole image: its levels and layers, in a layout.
//
// Contract: an image has `layers` layers of `levels` levels. Level l has max(1, side >> l) texels along each side, in
// blocks that the level's end may cut. A layer's levels follow each other, level 0 first, each at the next multiple of
// its alignment; layers follow each other at multiples of the alignment of level 0. So a small level takes what its
// layout takes for so few blocks (there is no packed tail of levels). `offset` gives the bytes from the image's start
// to the block with this texel; `contains` says whether there is such a texel. Errors: Input (place: `where`) for a
// side of 0 or of more than 65536 texels, blocks of 0 or more than 2048 bytes or without texels, layers of a 3D image,
// and more levels than the sides have. O(levels) to make, O(1) a texel. The layout must outlive the plan.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/memory/images/image_layout.hpp"

namespace rayreplay::memory {

/// Of level 0, in texels; block sides in texels.
struct ImageShape {
  std::uint32_t width = 1, height = 1, depth = 1;
  std::uint32_t layers = 1, levels = 1;
  std::uint32_t block_width = 1, block_height = 1, block_bytes = 4;

  auto operator<=>(const ImageShape&) const = default;
};

/// The texel (x, y, z) of a level of a layer.
struct ImageTexel {
  std::uint32_t x = 0, y = 0, z = 0;
  std::uint32_t layer = 0, level = 0;
};

class ImagePlan {
 public:
  ImagePlan(const ImageShape& shape, const ImageLayout& layout, const std::string& where);

  [[nodiscard]] const ImageShape& shape() const {
    return shape_;
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return layer_bytes_ * shape_.layers;
  }
  /// Texels along a side of so many in level 0.
  [[nodiscard]] static std::uint32_t side(std::uint32_t of_level_0, std::uint32_t level) {
    const std::uint32_t found = level < 32 ? of_level_0 >> level : 0;
    return found == 0 ? 1 : found;
  }
  [[nodiscard]] bool contains(const ImageTexel& texel) const {
    return texel.level < shape_.levels && texel.layer < shape_.layers && texel.x < side(shape_.width, texel.level) &&
           texel.y < side(shape_.height, texel.level) && texel.z < side(shape_.depth, texel.level);
  }
  [[nodiscard]] std::uint64_t offset(const ImageTexel& texel) const {
    const Level& level = levels_[texel.level];
    return layer_bytes_ * texel.layer + level.start +
           layout_->offset(level.grid, texel.x / shape_.block_width, texel.y / shape_.block_height, texel.z);
  }

 private:
  struct Level {
    BlockGrid grid;
    std::uint64_t start = 0;
  };

  ImageShape shape_;
  const ImageLayout* layout_;
  std::vector<Level> levels_;
  std::uint64_t layer_bytes_ = 0;
};

}  // namespace rayreplay::memory
