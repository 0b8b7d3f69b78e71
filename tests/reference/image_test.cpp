// The PNG holds what was rendered.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "base/error.hpp"
#include "capture/reference/image.hpp"
#include "tests/support/temporary_folder.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace rayreplay::test {
namespace {

TEST(Image, GammaAndClamping) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const reference::Image image{2, 2, {0, 0.25F, 1, 4, -1, nan, 1e-9F, 0.5F, 1e30F, 0.04F, 0.09F, 0.16F}};
  const std::string png = reference::encode_png(image);
  int width = 0;
  int height = 0;
  int channels = 0;
  stbi_uc* const pixels = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()),
                                                static_cast<int>(png.size()), &width, &height, &channels, 3);
  ASSERT_NE(pixels, nullptr);
  EXPECT_EQ(width, 2);
  EXPECT_EQ(height, 2);
  EXPECT_EQ(channels, 3);
  EXPECT_EQ(std::vector<int>(pixels, pixels + 12),
            (std::vector<int>{0, 128, 255, 255, 0, 0, 0, 180, 255, 51, 77, 102}));
  stbi_image_free(pixels);
}

TEST(Image, NeverOverwritesUnasked) {
  const TemporaryFolder folder;
  const auto path = folder / "image.png";
  const reference::Image image{1, 1, {0, 0, 0}};
  reference::write_png(image, path, false);
  EXPECT_THROW(reference::write_png(image, path, false), Error);
  reference::write_png(image, path, true);
  EXPECT_GT(std::filesystem::file_size(path), 50U);
}

}  // namespace
}  // namespace rayreplay::test
