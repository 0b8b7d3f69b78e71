// The slow twin of block-linear images: memory is walked byte by byte, and each block's place is written down.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "sim/memory/images/image_plan.hpp"

namespace rayreplay::test {

class SlowImage {
 public:
  /// Tiles of at most so many GOBs above each other, and so many slices. Blocks of 1, 2, 4, 8 or 16 bytes.
  SlowImage(const memory::ImageShape& shape, std::uint32_t tile_gobs, std::uint32_t tile_slices) : shape_(shape) {
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
      std::uint64_t tile_of_first = 0;
      for (std::uint32_t level = 0; level < shape.levels; ++level) {
        const std::uint64_t tile = walk(layer, level, tile_gobs, tile_slices);
        tile_of_first = level == 0 ? tile : tile_of_first;
      }
      while (end_ % tile_of_first != 0) {
        ++end_;
      }
    }
  }

  [[nodiscard]] std::uint64_t bytes() const {
    return end_;
  }
  /// Of a texel that is there.
  [[nodiscard]] std::uint64_t offset(const memory::ImageTexel& texel) const {
    return starts_.at({texel.layer, texel.level, texel.z, texel.y / shape_.block_height, texel.x / shape_.block_width});
  }
  [[nodiscard]] static std::uint32_t texels(std::uint32_t side, std::uint32_t level) {
    for (; level > 0; --level) {
      side = side == 1 ? 1 : side / 2;
    }
    return side;
  }
  [[nodiscard]] bool contains(const memory::ImageTexel& texel) const {
    return texel.layer < shape_.layers && texel.level < shape_.levels && texel.x < texels(shape_.width, texel.level) &&
           texel.y < texels(shape_.height, texel.level) && texel.z < texels(shape_.depth, texel.level);
  }

 private:
  /// Lays a level behind all others; returns the bytes of its tiles.
  std::uint64_t walk(std::uint32_t layer, std::uint32_t level, std::uint32_t tile_gobs, std::uint32_t tile_slices) {
    std::uint32_t columns = 0, rows = 0;  // of blocks
    for (std::uint32_t x = 0; x < texels(shape_.width, level); x += shape_.block_width) {
      ++columns;
    }
    for (std::uint32_t y = 0; y < texels(shape_.height, level); y += shape_.block_height) {
      ++rows;
    }
    const std::uint32_t slices = texels(shape_.depth, level);
    while (tile_gobs > 1 && tile_gobs / 2 * 8 >= rows) {
      tile_gobs /= 2;
    }
    while (tile_slices > 1 && tile_slices / 2 >= slices) {
      tile_slices /= 2;
    }
    for (std::uint32_t first_slice = 0; first_slice < slices; first_slice += tile_slices) {
      for (std::uint32_t first_row = 0; first_row < rows; first_row += 8 * tile_gobs) {
        for (std::uint32_t first_byte = 0; first_byte < columns * shape_.block_bytes; first_byte += 64) {
          for (std::uint32_t slice = first_slice; slice < first_slice + tile_slices; ++slice) {
            for (std::uint32_t gob = 0; gob < tile_gobs; ++gob) {
              walk_gob(layer, level, slice, first_row + 8 * gob, first_byte);
            }
          }
        }
      }
    }
    return std::uint64_t{512} * tile_gobs * tile_slices;
  }
  void walk_gob(std::uint32_t layer, std::uint32_t level, std::uint32_t slice, std::uint32_t first_row,
                std::uint32_t first_byte) {
    // Sector: its 16-byte column and its pair of rows, from NIL's figure.
    constexpr std::array<std::array<std::uint32_t, 2>, 16> kSectors = {{{0, 0},
                                                                        {0, 1},
                                                                        {1, 0},
                                                                        {1, 1},
                                                                        {0, 2},
                                                                        {0, 3},
                                                                        {1, 2},
                                                                        {1, 3},
                                                                        {2, 0},
                                                                        {2, 1},
                                                                        {3, 0},
                                                                        {3, 1},
                                                                        {2, 2},
                                                                        {2, 3},
                                                                        {3, 2},
                                                                        {3, 3}}};
    for (const auto& [column, pair] : kSectors) {
      for (std::uint32_t row = 0; row < 2; ++row) {
        for (std::uint32_t byte = 0; byte < 16; ++byte, ++end_) {
          const std::uint32_t x = first_byte + 16 * column + byte;
          if (x % shape_.block_bytes == 0) {
            starts_[{layer, level, slice, first_row + 2 * pair + row, x / shape_.block_bytes}] = end_;
          }
        }
      }
    }
  }

  memory::ImageShape shape_;
  std::map<std::array<std::uint32_t, 5>, std::uint64_t> starts_;  ///< by layer, level, slice, row, column of blocks
  std::uint64_t end_ = 0;
};

}  // namespace rayreplay::test
