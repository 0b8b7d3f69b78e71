#include "capture/reference/image.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/output_file.hpp"

// stb's code is not written for our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace rayreplay::reference {
namespace {

std::uint8_t encode(float linear) {
  if (!(linear > 0)) {
    return 0;
  }
  return static_cast<std::uint8_t>(std::lround(std::min(std::sqrt(linear), 1.0F) * 255.0F));
}

}  // namespace

std::string encode_png(const Image& image) {
  std::vector<std::uint8_t> bytes(image.rgb.size());
  std::transform(image.rgb.begin(), image.rgb.end(), bytes.begin(), encode);
  std::string png;
  const auto append = [](void* context, void* data, int size) {
    static_cast<std::string*>(context)->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
  };
  const int done = stbi_write_png_to_func(append, &png, static_cast<int>(image.width), static_cast<int>(image.height),
                                          3, bytes.data(), static_cast<int>(image.width * 3));
  if (done == 0) {
    throw Error(ErrorKind::Resource,
                {"the picture cannot be encoded", "", std::to_string(image.width) + "x" + std::to_string(image.height),
                 "", "render a smaller one"});
  }
  return png;
}

void write_png(const Image& image, const std::filesystem::path& path, bool overwrite) {
  write_file(path, encode_png(image), overwrite);
}

}  // namespace rayreplay::reference
