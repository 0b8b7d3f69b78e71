// Block-linear: NVIDIA's tiles of GOBs of 64 bytes x 8 rows, as the open drivers describe them.
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

constexpr const char* kHeight = "height";
constexpr const char* kDepth = "depth";
constexpr std::uint32_t kGobWidth = 64;  // bytes
constexpr std::uint32_t kGobRows = 8;

/// Of blocks of more than 64 bytes, which multisampled images have, a GOB is one block wide.
std::uint32_t gob_width(std::uint32_t block_bytes) {
  return std::max(kGobWidth, block_bytes);
}

/// Place of byte x of row y: sectors of 16 bytes x 2 rows; a block's own bytes stay together.
std::uint64_t in_gob(std::uint32_t x, std::uint32_t y, std::uint32_t block_bytes) {
  // From the lowest bit on. Of blocks of more than 16 bytes, the bits of x inside the block come first.
  const auto x_bits = static_cast<std::uint32_t>(std::max(4, std::countr_zero(block_bytes)));
  std::uint64_t place = x & ((1U << x_bits) - 1);
  std::uint32_t to = x_bits;
  place |= std::uint64_t{y & 3U} << to;
  to += 2;
  if (x_bits < 5) {
    place |= std::uint64_t{x >> 4U & 1U} << to++;
  }
  place |= std::uint64_t{y >> 2U & 1U} << to++;
  if (x_bits < 6) {
    place |= std::uint64_t{x >> 5U & 1U} << to;
  }
  return place;
}

class BlockLinear final : public ImageLayout {
 public:
  BlockLinear(std::uint32_t height, std::uint32_t depth) : height_(height), depth_(depth) {
    for (const auto& [name, gobs] : {std::pair(kHeight, height), std::pair(kDepth, depth)}) {
      if (!std::has_single_bit(gobs)) {
        throw Error(ErrorKind::Usage,
                    {"a side of a tile is not a power of two", name, std::to_string(gobs), "1, 2, 4, … GOBs", ""});
      }
    }
  }

  [[nodiscard]] LevelRoom room(const BlockGrid& level) const override {
    const Tiles tiles = tiles_of(level);
    return {tiles.columns * tiles.rows * tiles.layers * tiles.bytes(), tiles.bytes()};
  }
  [[nodiscard]] std::uint64_t offset(const BlockGrid& level, std::uint32_t x, std::uint32_t y,
                                     std::uint32_t z) const override {
    const Tiles tiles = tiles_of(level);
    const std::uint32_t block = padded_bytes(level.block_bytes);
    const std::uint64_t byte = std::uint64_t{x} * block;
    const std::uint32_t gob_row = y / kGobRows;
    const std::uint64_t tile =
        (z / tiles.depth * tiles.rows + gob_row / tiles.height) * tiles.columns + byte / gob_width(block);
    const std::uint64_t gob = std::uint64_t{z % tiles.depth} * tiles.height + gob_row % tiles.height;
    return tile * tiles.bytes() + gob * tiles.gob_bytes +
           in_gob(static_cast<std::uint32_t>(byte % gob_width(block)), y % kGobRows, block);
  }

 private:
  struct Tiles {
    std::uint32_t height = 1, depth = 1;  ///< of a tile, in GOBs
    std::uint64_t gob_bytes = 0;
    std::uint64_t columns = 1, rows = 1, layers = 1;  ///< of tiles

    [[nodiscard]] std::uint64_t bytes() const {
      return gob_bytes * height * depth;
    }
  };

  [[nodiscard]] Tiles tiles_of(const BlockGrid& level) const {
    const std::uint32_t block = padded_bytes(level.block_bytes);
    const std::uint64_t row_bytes = std::uint64_t{level.width} * block;
    const std::uint32_t gob_rows = (level.height - 1) / kGobRows + 1;
    Tiles tiles;
    tiles.gob_bytes = std::uint64_t{gob_width(block)} * kGobRows;
    tiles.height = std::min(height_, std::bit_ceil(gob_rows));
    tiles.depth = std::min(depth_, std::bit_ceil(level.depth));
    tiles.columns = (row_bytes - 1) / gob_width(block) + 1;
    tiles.rows = (gob_rows - 1) / tiles.height + 1;
    tiles.layers = (level.depth - 1) / tiles.depth + 1;
    return tiles;
  }

  std::uint32_t height_, depth_;
};

const ImageLayouts::Registrar kRegistrar(
    {.kind = {},
     .name = kAssumedImageLayout,
     .summary = "NVIDIA's tiles: columns of GOBs of 64 bytes x 8 rows, in sectors of 16 bytes x 2 rows",
     .text =
         "A GOB (group of bytes) has 512 bytes: 64 bytes of each of 8 rows of blocks. Its 16 sectors of 32 bytes are "
         "16 bytes of each of two rows. With x in bytes, the address in a GOB is, from the lowest bit on: x0 x1 x2 x3, "
         "y0, y1, x4, y2, x5 (NIL's TuringColor2D). A line of 128 bytes is four sectors: 32 bytes x 4 rows, or 8 x 4 "
         "texels of 4 bytes. A tile is a column of `height` GOBs, in a 3D image `depth` such columns for as many "
         "slices; its GOBs follow each other by slice, then from top to bottom. Tiles follow each other in rows from "
         "left to right, rows from top to bottom, then by slices. In a level with fewer rows or slices, a tile is as "
         "high and as deep as the level, rounded up to powers of two; NIL says that the hardware does so. So each 64 "
         "bytes of a level's rows take 512 bytes at least.\n\nBlocks of 3, 6 or 12 bytes take 4, 8 or 16 (assumed). Of "
         "blocks of more than 16 bytes, such as all samples of a texel in a multisampled image, the bits inside the "
         "block come first, and a GOB is one block wide at least (assumed). NVIDIA's own driver may choose other sides "
         "of tiles, and Blackwell has other orders for blocks of 1 and 2 bytes. Compression is not modelled.",
     .source = "Mesa, src/nouveau/nil/tiling.rs (sectors, GOBs, tiles, levels); envytools, G80 surface formats "
               "(blocklinear surfaces)",
     .parameters = {declare::whole(kHeight, 32, "GOBs", "Most GOBs of a tile above each other; a power of two.", 1, 32),
                    declare::whole(kDepth, 32, "GOBs", "Most slices of a tile; a power of two.", 1, 32)}},
    [](const Parameters& parameters) {
      return std::make_unique<BlockLinear>(static_cast<std::uint32_t>(parameters.get_int(kHeight)),
                                           static_cast<std::uint32_t>(parameters.get_int(kDepth)));
    });

}  // namespace
}  // namespace rayreplay::memory
