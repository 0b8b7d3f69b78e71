// Image layouts: where the blocks of a level of an image lie (Hakura, Gupta, ISCA 1997: blocked representations).
//
// Contract: a level of one layer is a grid of blocks: texels, or blocks of a compressed format. `offset` gives the
// bytes from the level's start to a block's first byte; the block's bytes follow it. Blocks never share bytes, and all
// lie in the `bytes` of `room`, at whose `alignment`, a power of two, the level has to start. Levels and layers are put
// together by image_plan.hpp. Grids have sides of 1 to 65536 and blocks of 1 to 2048 bytes (all samples of a texel
// together); blocks asked for lie in the grid. Layouts of hardware are not in a trace: every layout is an assumption.
// Deterministic, O(1). To add one: a .cpp file in sim/memory/images/layouts/.
#pragma once

#include <cstdint>

#include "base/registry.hpp"

namespace rayreplay::memory {

/// The layout that is assumed where nothing says more.
inline constexpr const char* kAssumedImageLayout = "block-linear";

/// In blocks.
struct BlockGrid {
  std::uint32_t width = 1, height = 1, depth = 1;
  std::uint32_t block_bytes = 4;
};

struct LevelRoom {
  std::uint64_t bytes = 0, alignment = 1;
};

class ImageLayout {
 public:
  static constexpr const char* kModelKind = "image layout";
  virtual ~ImageLayout() = default;
  [[nodiscard]] virtual LevelRoom room(const BlockGrid& level) const = 0;
  [[nodiscard]] virtual std::uint64_t offset(const BlockGrid& level, std::uint32_t x, std::uint32_t y,
                                             std::uint32_t z) const = 0;
};

using ImageLayouts = Registry<ImageLayout>;

}  // namespace rayreplay::memory
