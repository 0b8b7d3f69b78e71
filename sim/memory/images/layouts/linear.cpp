// Linear: rows of blocks, one after another.
#include <bit>
#include <memory>
#include <string>

#include "base/declare_parameters.hpp"
#include "base/error.hpp"
#include "sim/memory/images/image_layout.hpp"

namespace rayreplay::memory {
namespace {

constexpr const char* kRowAlignment = "row_alignment";

class Linear final : public ImageLayout {
 public:
  explicit Linear(std::uint64_t alignment) : alignment_(alignment) {
    if (!std::has_single_bit(alignment)) {
      throw Error(ErrorKind::Usage, {"the alignment of rows is not a power of two", kRowAlignment,
                                     std::to_string(alignment), "1, 2, 4, … bytes", ""});
    }
  }

  [[nodiscard]] LevelRoom room(const BlockGrid& level) const override {
    return {pitch(level) * level.height * level.depth, alignment_};
  }
  [[nodiscard]] std::uint64_t offset(const BlockGrid& level, std::uint32_t x, std::uint32_t y,
                                     std::uint32_t z) const override {
    return pitch(level) * (std::uint64_t{z} * level.height + y) + std::uint64_t{x} * level.block_bytes;
  }

 private:
  [[nodiscard]] std::uint64_t pitch(const BlockGrid& level) const {
    return (std::uint64_t{level.width} * level.block_bytes + alignment_ - 1) / alignment_ * alignment_;
  }

  std::uint64_t alignment_;
};

const ImageLayouts::Registrar kRegistrar(
    {.kind = {},
     .name = "linear",
     .summary = "Rows of blocks, one after another",
     .text =
         "A level is its rows of blocks from top to bottom, each on a multiple of row_alignment; the slices of a 3D "
         "image follow each other. Blocks have no padding.\n\nApplications get such images with "
         "VK_IMAGE_TILING_LINEAR. Blocks above each other are far apart, so that a line holds a part of one row "
         "alone.",
     .source = "Hakura, Gupta, The Design and Analysis of a Cache Architecture for Texture Mapping, ISCA 1997 (base "
               "representation); Direct3D 12, D3D12_TEXTURE_DATA_PITCH_ALIGNMENT (rows of 256 bytes)",
     .parameters = {declare::whole(kRowAlignment, 256, "bytes", "Rows start at multiples of it; a power of two.", 1,
                                   65536)}},
    [](const Parameters& parameters) {
      return std::make_unique<Linear>(static_cast<std::uint64_t>(parameters.get_int(kRowAlignment)));
    });

}  // namespace
}  // namespace rayreplay::memory
