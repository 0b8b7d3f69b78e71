// What is a PNG refused for, and does it begin like one?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/error.hpp"
#include "base/png.hpp"

namespace rayreplay {
namespace {

bool accepted(std::uint64_t width, std::uint64_t height) {
  try {
    require_png_size(width, height, "--size");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Resource);
    EXPECT_THAT(error.what(), testing::HasSubstr("--size"));
    EXPECT_THAT(error.what(), testing::HasSubstr(std::to_string(kMaxPngBytes)));
    return false;
  }
  return true;
}

TEST(Png, SizesAreAcceptedUpToTheLimitOfBytes) {
  EXPECT_TRUE(accepted(1, 1));
  EXPECT_TRUE(accepted(18900, 18900));
  EXPECT_FALSE(accepted(18920, 18920));
  EXPECT_TRUE(accepted(1, kMaxPngBytes / 4));
  EXPECT_FALSE(accepted(1, kMaxPngBytes / 4 + 1));
  EXPECT_TRUE(accepted((kMaxPngBytes - 1) / 3, 1));
  EXPECT_FALSE(accepted(kMaxPngBytes / 3 + 1, 1));
  EXPECT_FALSE(accepted(0, 5));
  EXPECT_FALSE(accepted(5, 0));
  // Products that do not fit 64 bits.
  EXPECT_FALSE(accepted(~std::uint64_t{0}, ~std::uint64_t{0}));
  EXPECT_FALSE(accepted(std::uint64_t{1} << 32U, std::uint64_t{1} << 32U));
  EXPECT_FALSE(accepted(2, ~std::uint64_t{0}));
}

TEST(Png, HeaderHoldsTheSize) {
  const std::vector<std::uint8_t> pixels(std::size_t{300} * 2 * 3, 77);
  const std::string png = encode_png(300, 2, pixels);
  ASSERT_GT(png.size(), 24U);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(png.substr(12, 12), std::string("IHDR\0\0\x01\x2c\0\0\0\x02", 12));
  EXPECT_EQ(png, encode_png(300, 2, pixels));
}

TEST(Png, PixelsMustBeAsManyAsTheSizeSays) {
  const std::vector<std::uint8_t> pixels(11);
  EXPECT_THROW(static_cast<void>(encode_png(2, 2, pixels)), Error);
}

}  // namespace
}  // namespace rayreplay
