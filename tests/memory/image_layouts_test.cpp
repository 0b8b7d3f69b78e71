// Image layouts: small images written out by hand, and for random images that no two blocks share bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/memory/images/image_plan.hpp"
#include "tests/memory/slow_images.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {
namespace {

using memory::ImageLayouts;
using memory::ImagePlan;
using memory::ImageShape;
using memory::ImageTexel;
using testing::ElementsAre;
using testing::HasSubstr;
using Rows = std::vector<std::vector<std::uint64_t>>;

class Placed {
 public:
  Placed(const std::string& spec, const ImageShape& shape)
      : layout_(ImageLayouts::create(spec).model), plan_(shape, *layout_, "a test") {}

  [[nodiscard]] const ImagePlan& plan() const {
    return plan_;
  }
  /// Addresses of a slice of a level, row by row.
  [[nodiscard]] Rows rows(std::uint32_t level, std::uint32_t layer = 0, std::uint32_t z = 0) const {
    Rows all;
    for (std::uint32_t y = 0; plan_.contains({.y = y, .z = z, .layer = layer, .level = level}); ++y) {
      std::vector<std::uint64_t> row;
      for (std::uint32_t x = 0; plan_.contains({.x = x, .y = y, .z = z, .layer = layer, .level = level}); ++x) {
        row.push_back(plan_.offset({.x = x, .y = y, .z = z, .layer = layer, .level = level}));
      }
      all.push_back(row);
    }
    return all;
  }

 private:
  std::unique_ptr<memory::ImageLayout> layout_;
  ImagePlan plan_;
};

TEST(ImageLayouts, LinearByHand) {
  // 5 x 3 texels of 4 bytes; levels of 2 x 1 and 1 x 1; two layers. Rows start at multiples of 8 bytes.
  const Placed image("linear:row_alignment=8", {.width = 5, .height = 3, .layers = 2, .levels = 3});
  EXPECT_EQ(image.rows(0), (Rows{{0, 4, 8, 12, 16}, {24, 28, 32, 36, 40}, {48, 52, 56, 60, 64}}));
  EXPECT_EQ(image.rows(1), (Rows{{72, 76}}));
  EXPECT_EQ(image.rows(2), (Rows{{80}}));
  EXPECT_EQ(image.rows(0, 1), (Rows{{88, 92, 96, 100, 104}, {112, 116, 120, 124, 128}, {136, 140, 144, 148, 152}}));
  EXPECT_EQ(image.rows(1, 1), (Rows{{160, 164}}));
  EXPECT_EQ(image.rows(2, 1), (Rows{{168}}));
  EXPECT_EQ(image.plan().bytes(), 176U);
  // Blocks of 3 bytes are not padded; slices of a 3D image follow each other.
  const Placed solid("linear:row_alignment=1", {.width = 2, .height = 2, .depth = 2, .levels = 2, .block_bytes = 3});
  EXPECT_EQ(solid.rows(0, 0, 0), (Rows{{0, 3}, {6, 9}}));
  EXPECT_EQ(solid.rows(0, 0, 1), (Rows{{12, 15}, {18, 21}}));
  EXPECT_EQ(solid.rows(1), (Rows{{24}}));
  EXPECT_EQ(solid.plan().bytes(), 27U);
}

TEST(ImageLayouts, MortonByHand) {
  const Placed image("morton", {.width = 4, .height = 3, .layers = 2, .levels = 3, .block_bytes = 1});
  EXPECT_EQ(image.rows(0), (Rows{{0, 1, 4, 5}, {2, 3, 6, 7}, {8, 9, 12, 13}}));
  EXPECT_EQ(image.rows(1), (Rows{{16, 17}}));
  EXPECT_EQ(image.rows(2), (Rows{{18}}));
  EXPECT_EQ(image.rows(0, 1), (Rows{{32, 33, 36, 37}, {34, 35, 38, 39}, {40, 41, 44, 45}}));
  EXPECT_EQ(image.rows(1, 1), (Rows{{48, 49}}));
  EXPECT_EQ(image.rows(2, 1), (Rows{{50}}));
  EXPECT_EQ(image.plan().bytes(), 64U);
  // The longer side's highest bits follow; blocks of 3 bytes take 4.
  EXPECT_EQ(Placed("morton", {.width = 8, .height = 2, .block_bytes = 3}).rows(0),
            (Rows{{0, 4, 16, 20, 32, 36, 48, 52}, {8, 12, 24, 28, 40, 44, 56, 60}}));
}

TEST(ImageLayouts, TiledByHand) {
  // Tiles of 64 bytes: 4 x 4 texels of 4 bytes.
  const Placed image("tiled:tile_bytes=64", {.width = 6, .height = 5, .layers = 2, .levels = 3});
  EXPECT_EQ(image.rows(0), (Rows{{0, 4, 16, 20, 64, 68},
                                 {8, 12, 24, 28, 72, 76},
                                 {32, 36, 48, 52, 96, 100},
                                 {40, 44, 56, 60, 104, 108},
                                 {128, 132, 144, 148, 192, 196}}));
  // 3 x 2: a tile of 4 x 2, 32 bytes. 1 x 1: a tile of 4 bytes.
  EXPECT_EQ(image.rows(1), (Rows{{256, 260, 272}, {264, 268, 280}}));
  EXPECT_EQ(image.rows(2), (Rows{{288}}));
  EXPECT_EQ(image.rows(2, 1), (Rows{{320 + 288}}));
  EXPECT_EQ(image.plan().bytes(), 640U);
  // Vulkan's standard sparse image blocks of 64 KiB (2D): 256 x 256 texels of 1 byte, 256 x 128 of 2, … 64 x 64 of 16.
  const std::uint32_t shapes[][3] = {{1, 256, 256}, {2, 256, 128}, {4, 128, 128}, {8, 128, 64}, {16, 64, 64}};
  for (const auto& [bytes, width, height] : shapes) {
    SCOPED_TRACE(bytes);
    const Placed large("tiled", {.width = 1024, .height = 1024, .block_bytes = bytes});
    EXPECT_EQ(large.plan().offset({.x = width - 1, .y = height - 1}), 65536U - bytes);
    EXPECT_EQ(large.plan().offset({.x = width}), 65536U);
    EXPECT_EQ(large.plan().offset({.y = height}), 65536U * (1024 / width));
  }
}

/// NIL's figure of a Turing GOB: the sector of each 16 bytes of each two rows.
TEST(ImageLayouts, BlockLinearGobByHand) {
  constexpr std::uint32_t kSectors[4][4] = {{0, 2, 8, 10}, {1, 3, 9, 11}, {4, 6, 12, 14}, {5, 7, 13, 15}};
  const Placed bytes("block-linear", {.width = 64, .height = 8, .block_bytes = 1});
  const Placed texels("block-linear", {.width = 16, .height = 8});
  const Placed wide("block-linear", {.width = 4, .height = 8, .block_bytes = 16});
  for (std::uint32_t y = 0; y < 8; ++y) {
    for (std::uint32_t x = 0; x < 64; ++x) {
      const std::uint64_t expected = kSectors[y / 2][x / 16] * 32 + y % 2 * 16 + x % 16;
      EXPECT_EQ(bytes.plan().offset({.x = x, .y = y}), expected) << x << " " << y;
      if (x % 4 == 0) {
        EXPECT_EQ(texels.plan().offset({.x = x / 4, .y = y}), expected) << x << " " << y;
      }
      if (x % 16 == 0) {
        EXPECT_EQ(wide.plan().offset({.x = x / 16, .y = y}), expected) << x << " " << y;
      }
    }
  }
  EXPECT_EQ(bytes.plan().bytes(), 512U);
  // A line of 128 bytes has 8 x 4 texels of 4 bytes.
  for (std::uint32_t y = 0; y < 8; ++y) {
    for (std::uint32_t x = 0; x < 16; ++x) {
      EXPECT_EQ(texels.plan().offset({.x = x, .y = y}) / 128, x / 8 * 2 + y / 4);
    }
  }
}

TEST(ImageLayouts, BlockLinearTilesByHand) {
  // 40 x 30 texels of 4 bytes: 3 GOBs in a row, 4 above each other; in tiles of two.
  const Placed image("block-linear:height=2", {.width = 40, .height = 30, .layers = 2, .levels = 3});
  const auto at = [&](std::uint32_t x, std::uint32_t y, std::uint32_t level = 0, std::uint32_t layer = 0) {
    return image.plan().offset({.x = x, .y = y, .layer = layer, .level = level});
  };
  EXPECT_EQ(at(0, 8), 512U) << "the GOB below, of the same tile";
  EXPECT_EQ(at(16, 0), 1024U) << "the next tile";
  EXPECT_EQ(at(32, 8), 2 * 1024U + 512);
  EXPECT_EQ(at(0, 16), 3 * 1024U) << "the next row of tiles";
  EXPECT_EQ(at(39, 29), 5 * 1024U + 512 + 6 * 32 + 16 + 12);
  // 20 x 15: 2 x 2 GOBs; 10 x 7: one.
  EXPECT_EQ(at(0, 0, 1), 6 * 1024U);
  EXPECT_EQ(at(16, 8, 1), 7 * 1024U + 512);
  EXPECT_EQ(at(0, 0, 2), 8 * 1024U);
  EXPECT_EQ(at(8, 4, 2), 8 * 1024U + 8 * 32 + 4 * 32);
  EXPECT_EQ(at(0, 0, 0, 1), 9 * 1024U) << "8 · 1024 + 512, rounded up to tiles of level 0";
  EXPECT_EQ(image.plan().bytes(), 18 * 1024U);
  // 3D: a tile of 2 x 2 GOBs holds two slices.
  const Placed solid("block-linear", {.width = 16, .height = 16, .depth = 4, .levels = 2, .block_bytes = 4});
  EXPECT_EQ(solid.plan().offset({.y = 8, .z = 1}), 3 * 512U);
  EXPECT_EQ(solid.plan().offset({.z = 3}), 6 * 512U);
  EXPECT_EQ(solid.plan().offset({.level = 1}), 8 * 512U);
  EXPECT_EQ(solid.plan().offset({.z = 1, .level = 1}), 9 * 512U);
  EXPECT_EQ(solid.plan().bytes(), 16 * 512U) << "10 GOBs, rounded up to tiles of level 0";
  const Placed flat("block-linear:depth=1", {.width = 16, .height = 16, .depth = 4});
  EXPECT_EQ(flat.plan().offset({.z = 1}), 1024U);
}

TEST(ImageLayouts, CompressedBlocks) {
  // 9 x 5 texels in blocks of 4 x 4: 3 x 2 blocks of 8 bytes, then 1 x 1.
  const Placed image("linear:row_alignment=1",
                     {.width = 9, .height = 5, .levels = 3, .block_width = 4, .block_height = 4, .block_bytes = 8});
  EXPECT_EQ(image.rows(0), (Rows{{0, 0, 0, 0, 8, 8, 8, 8, 16},
                                 {0, 0, 0, 0, 8, 8, 8, 8, 16},
                                 {0, 0, 0, 0, 8, 8, 8, 8, 16},
                                 {0, 0, 0, 0, 8, 8, 8, 8, 16},
                                 {24, 24, 24, 24, 32, 32, 32, 32, 40}}));
  EXPECT_EQ(image.rows(1), (Rows{{48, 48, 48, 48}, {48, 48, 48, 48}}));
  EXPECT_EQ(image.rows(2), (Rows{{56, 56}}));
  EXPECT_EQ(image.plan().bytes(), 64U);
}

/// All blocks of an image, each once.
std::vector<std::uint64_t> starts(const ImagePlan& plan) {
  const ImageShape& shape = plan.shape();
  std::vector<std::uint64_t> all;
  for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
    for (std::uint32_t level = 0; level < shape.levels; ++level) {
      for (std::uint32_t z = 0; z < std::max(1U, shape.depth >> level); ++z) {
        for (std::uint32_t y = 0; y < std::max(1U, shape.height >> level); y += shape.block_height) {
          for (std::uint32_t x = 0; x < std::max(1U, shape.width >> level); x += shape.block_width) {
            all.push_back(plan.offset({x, y, z, layer, level}));
          }
        }
      }
    }
  }
  return all;
}

TEST(ImageLayouts, NoTwoBlocksShareBytes) {
  Random random(7);
  const std::vector<std::string> specs = {"linear",       "linear:row_alignment=1", "morton",
                                          "tiled",        "tiled:tile_bytes=64",    "tiled:tile_bytes=4096",
                                          "block-linear", "block-linear:height=1",  "block-linear:height=4,depth=2"};
  for (int round = 0; round < 60; ++round) {
    const bool solid = random.one_in(3);
    ImageShape shape{.width = 1 + random.below(random.one_in(4) ? 300 : 40),
                     .height = random.one_in(5) ? 1 : 1 + random.below(solid ? 20 : 60),
                     .depth = solid ? 1 + random.below(10) : 1,
                     .layers = solid ? 1 : 1 + random.below(3)};
    if (random.one_in(3)) {
      shape.block_width = 4 + random.below(3) * 4;
      shape.block_height = 4 + random.below(2);
    }
    const std::uint32_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 96, 512};
    shape.block_bytes = sizes[random.below(13)];
    std::uint32_t most = 1;
    for (std::uint32_t side = std::max({shape.width, shape.height, shape.depth}); side > 1; side /= 2) {
      ++most;
    }
    shape.levels = 1 + random.below(most);
    for (const std::string& spec : specs) {
      SCOPED_TRACE(spec + " in round " + std::to_string(round));
      const Placed image(spec, shape);
      std::vector<std::uint64_t> all = starts(image.plan());
      std::ranges::sort(all);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const std::uint64_t next = i + 1 < all.size() ? all[i + 1] : image.plan().bytes();
        ASSERT_LE(all[i] + shape.block_bytes, next) << "of block " << i << " at " << all[i];
      }
    }
  }
}

TEST(ImageLayouts, BlockLinearAsItsTwin) {
  Random random(11);
  for (int round = 0; round < 40; ++round) {
    const bool solid = random.one_in(3);
    ImageShape shape{.width = 1 + random.below(100),
                     .height = 1 + random.below(solid ? 30 : 90),
                     .depth = solid ? 1 + random.below(9) : 1,
                     .layers = solid ? 1 : 1 + random.below(3)};
    if (random.one_in(3)) {
      shape.block_width = 4;
      shape.block_height = 4 + random.below(2);
    }
    shape.block_bytes = 1U << random.below(5);
    const auto most = static_cast<std::uint32_t>(std::bit_width(std::max({shape.width, shape.height, shape.depth})));
    shape.levels = 1 + random.below(most);
    const std::uint32_t height = 1U << random.below(6), depth = 1U << random.below(6);
    SCOPED_TRACE(round);
    const Placed image("block-linear:height=" + std::to_string(height) + ",depth=" + std::to_string(depth), shape);
    const SlowImage slow(shape, height, depth);
    ASSERT_EQ(image.plan().bytes(), slow.bytes());
    for (int texels = 0; texels < 500; ++texels) {
      const ImageTexel texel{random.below(shape.width + 1), random.below(shape.height + 1),
                             random.below(shape.depth + 1), random.below(shape.layers + 1),
                             random.below(shape.levels + 1)};
      ASSERT_EQ(image.plan().contains(texel), slow.contains(texel));
      if (slow.contains(texel)) {
        ASSERT_EQ(image.plan().offset(texel), slow.offset(texel))
            << texel.x << " " << texel.y << " " << texel.z << " " << texel.layer << " " << texel.level;
      }
    }
  }
}

TEST(ImageLayouts, ImagesThatCannotBe) {
  const auto refused = [](const ImageShape& shape) {
    return error_of(ErrorKind::Input, [&] { return Placed("block-linear", shape).plan().bytes(); }).what;
  };
  EXPECT_THAT(refused({.width = 0}), HasSubstr("size is out of range"));
  EXPECT_THAT(refused({.height = 65537}), HasSubstr("size is out of range"));
  EXPECT_THAT(refused({.layers = 0}), HasSubstr("size is out of range"));
  EXPECT_THAT(refused({.depth = 2, .layers = 2}), HasSubstr("a 3D image has layers"));
  EXPECT_THAT(refused({.width = 4, .height = 4, .levels = 4}), HasSubstr("more levels"));
  EXPECT_THAT(refused({.levels = 0}), HasSubstr("more levels"));
  EXPECT_THAT(refused({.levels = 4'000'000'000}), HasSubstr("more levels"));
  EXPECT_THAT(refused({.block_width = 0}), HasSubstr("no texels"));
  EXPECT_THAT(refused({.block_bytes = 0}), HasSubstr("size of an image's blocks"));
  EXPECT_THAT(refused({.block_bytes = 2049}), HasSubstr("size of an image's blocks"));
  // The largest ones fit into 64 bits.
  const ImageShape flat{.width = 65536, .height = 65536, .layers = 65536, .levels = 17, .block_bytes = 2048};
  const ImageShape solid{.width = 65536, .height = 65536, .depth = 65536, .levels = 17, .block_bytes = 2048};
  for (const char* spec : {"block-linear", "tiled", "morton", "linear:row_alignment=65536"}) {
    EXPECT_GE(Placed(spec, flat).plan().bytes(), std::uint64_t{1} << 59U) << spec;
    EXPECT_GE(Placed(spec, solid).plan().bytes(), std::uint64_t{1} << 59U) << spec;
    EXPECT_LT(Placed(spec, flat).plan().bytes(), std::uint64_t{1} << 61U) << spec;
  }
  for (const char* spec : {"block-linear:height=3", "block-linear:depth=12", "tiled:tile_bytes=100",
                           "linear:row_alignment=24", "tiled:tile_bytes=32", "block-linear:height=64", "swizzled"}) {
    EXPECT_EQ(error_of([&] { return ImageLayouts::create(spec).spec; }).kind(), ErrorKind::Usage) << spec;
  }
}

}  // namespace
}  // namespace rayreplay::test
