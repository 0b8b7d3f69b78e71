// Tiled: rows of tiles of a fixed size, with the blocks of a tile in Morton order.
#include <algorithm>
#include <bit>
#include <memory>
#include <string>

#include "base/declare_parameters.hpp"
#include "base/error.hpp"
#include "sim/memory/images/bit_order.hpp"
#include "sim/memory/images/image_layout.hpp"

namespace rayreplay::memory {
namespace {

constexpr const char* kTileBytes = "tile_bytes";

class Tiled final : public ImageLayout {
 public:
  explicit Tiled(std::uint64_t bytes) : bytes_(bytes) {
    if (!std::has_single_bit(bytes)) {
      throw Error(ErrorKind::Usage, {"the size of a tile is not a power of two", kTileBytes, std::to_string(bytes),
                                     "a power of two, such as 512 or 4096", ""});
    }
  }

  [[nodiscard]] LevelRoom room(const BlockGrid& level) const override {
    const Tile tile = tile_of(level);
    return {tile.bytes * tile.columns * tile.rows * level.depth, tile.bytes};
  }
  [[nodiscard]] std::uint64_t offset(const BlockGrid& level, std::uint32_t x, std::uint32_t y,
                                     std::uint32_t z) const override {
    const Tile tile = tile_of(level);
    const std::uint64_t number = (z * tile.rows + (y >> tile.y_bits)) * tile.columns + (x >> tile.x_bits);
    const std::uint32_t in_x = x & ((1U << tile.x_bits) - 1), in_y = y & ((1U << tile.y_bits) - 1);
    return number * tile.bytes + interleaved(in_x, tile.x_bits, in_y, tile.y_bits) * padded_bytes(level.block_bytes);
  }

 private:
  struct Tile {
    std::uint32_t x_bits = 0, y_bits = 0;
    std::uint64_t bytes = 0, columns = 0, rows = 0;
  };

  [[nodiscard]] Tile tile_of(const BlockGrid& level) const {
    const std::uint32_t block = padded_bytes(level.block_bytes);
    const auto bits = static_cast<std::uint32_t>(std::max(0, std::countr_zero(bytes_) - std::countr_zero(block)));
    Tile tile;
    tile.x_bits = std::min((bits + 1) / 2, bits_for(level.width));
    tile.y_bits = std::min(bits / 2, bits_for(level.height));
    tile.bytes = std::uint64_t{block} << (tile.x_bits + tile.y_bits);
    tile.columns = ((std::uint64_t{level.width} - 1) >> tile.x_bits) + 1;
    tile.rows = ((std::uint64_t{level.height} - 1) >> tile.y_bits) + 1;
    return tile;
  }

  std::uint64_t bytes_;
};

const ImageLayouts::Registrar kRegistrar(
    {.kind = {},
     .name = "tiled",
     .summary = "Rows of tiles, with the blocks of a tile in Morton order",
     .text =
         "A tile has tile_bytes bytes and is as high as wide, or half as high: 128 x 128 texels of 4 bytes in 64 "
         "KiB. That is the shape of Vulkan's standard sparse image blocks in two dimensions. In a tile, the bits of "
         "a block's x and y alternate, x lowest. Tiles follow each other in rows, and so do the slices of a 3D "
         "image. A tile has one block at least. In a level that is smaller than a tile, a tile is no wider and no "
         "higher than the level, rounded "
         "up to powers of two.\n\nBlocks of 3, 6 or 12 bytes take 4, 8 or 16 (assumed). Hardware of several vendors "
         "has such tiles of 4 KiB or 64 KiB, with orders of their own inside.",
     .source = "Hakura, Gupta, The Design and Analysis of a Cache Architecture for Texture Mapping, ISCA 1997 (blocked "
               "representation); Vulkan specification, Standard Sparse Image Block Shapes",
     .parameters = {declare::whole(kTileBytes, 65536, "bytes", "Size of a tile; a power of two.", 64, 1048576)}},
    [](const Parameters& parameters) {
      return std::make_unique<Tiled>(static_cast<std::uint64_t>(parameters.get_int(kTileBytes)));
    });

}  // namespace
}  // namespace rayreplay::memory
