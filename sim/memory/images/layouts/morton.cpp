// Morton: all blocks of a level in Morton order.
#include <memory>

#include "sim/memory/images/bit_order.hpp"
#include "sim/memory/images/image_layout.hpp"

namespace rayreplay::memory {
namespace {

class Morton final : public ImageLayout {
 public:
  [[nodiscard]] LevelRoom room(const BlockGrid& level) const override {
    return {slice(level) * level.depth, slice(level)};
  }
  [[nodiscard]] std::uint64_t offset(const BlockGrid& level, std::uint32_t x, std::uint32_t y,
                                     std::uint32_t z) const override {
    return slice(level) * z +
           interleaved(x, bits_for(level.width), y, bits_for(level.height)) * padded_bytes(level.block_bytes);
  }

 private:
  [[nodiscard]] static std::uint64_t slice(const BlockGrid& level) {
    return std::uint64_t{padded_bytes(level.block_bytes)} << (bits_for(level.width) + bits_for(level.height));
  }
};

const ImageLayouts::Registrar kRegistrar(
    {.kind = {},
     .name = "morton",
     .summary = "All blocks of a level in Morton order",
     .text =
         "The bits of a block's x and y alternate, x lowest; where one side has more bits, its highest ones follow. "
         "A level takes the room of sides that are powers of two. The slices of a 3D image follow each "
         "other.\n\nBlocks of 3, 6 or 12 bytes take 4, 8 or 16 (assumed). Neighbours in x and in y are equally "
         "close at every scale.",
     .source = "Morton, A Computer Oriented Geodetic Data Base, IBM 1966",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Morton>(); });

}  // namespace
}  // namespace rayreplay::memory
