#include "sim/memory/images/image_plan.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::uint32_t kMostSide = 1U << 16U;
constexpr std::uint32_t kMostBlockBytes = 1U << 11U;  // 32 bytes of 64 samples

void check(const ImageShape& shape, const std::string& where) {
  const auto require = [&](bool sound, const char* what, const std::string& found, const std::string& expected) {
    if (!sound) {
      throw Error(ErrorKind::Input,
                  {what, where, found, expected, "capture the launch again, or set stream.shader_accesses=off"});
    }
  };
  const auto is_side = [](std::uint32_t side) { return side > 0 && side <= kMostSide; };
  require(is_side(shape.width) && is_side(shape.height) && is_side(shape.depth) && is_side(shape.layers),
          "an image's size is out of range",
          fmt::format("{} x {} x {} texels, layers: {}", shape.width, shape.height, shape.depth, shape.layers),
          fmt::format("1 to {} each", kMostSide));
  require(shape.depth == 1 || shape.layers == 1, "a 3D image has layers", std::to_string(shape.layers), "1");
  require(shape.block_width > 0 && shape.block_height > 0, "an image's blocks have no texels",
          fmt::format("{} x {}", shape.block_width, shape.block_height), "1 x 1 or more");
  require(shape.block_bytes > 0 && shape.block_bytes <= kMostBlockBytes,
          "the size of an image's blocks is out of range", fmt::format("bytes: {}", shape.block_bytes),
          fmt::format("1 to {}", kMostBlockBytes));
  const auto most = static_cast<std::uint32_t>(std::bit_width(std::max({shape.width, shape.height, shape.depth})));
  require(shape.levels > 0 && shape.levels <= most, "an image has more levels than its sides, or none",
          std::to_string(shape.levels), fmt::format("1 to {}", most));
}

std::uint64_t aligned(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

ImagePlan::ImagePlan(const ImageShape& shape, const ImageLayout& layout, const std::string& where)
    : shape_(shape), layout_(&layout) {
  check(shape, where);
  std::uint64_t alignment = 1;
  for (std::uint32_t number = 0; number < shape.levels; ++number) {
    const auto blocks = [&](std::uint32_t texels, std::uint32_t of_block) {
      return (side(texels, number) - 1) / of_block + 1;
    };
    Level level;
    level.grid = {blocks(shape.width, shape.block_width), blocks(shape.height, shape.block_height),
                  side(shape.depth, number), shape.block_bytes};
    const LevelRoom room = layout.room(level.grid);
    level.start = aligned(layer_bytes_, room.alignment);
    layer_bytes_ = level.start + room.bytes;
    alignment = number == 0 ? room.alignment : alignment;
    levels_.push_back(level);
  }
  layer_bytes_ = aligned(layer_bytes_, alignment);
}

}  // namespace rayreplay::memory
