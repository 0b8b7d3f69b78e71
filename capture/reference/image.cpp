#include "capture/reference/image.hpp"

#include <algorithm>
#include <cmath>

#include "base/output_file.hpp"
#include "base/png.hpp"

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
  return rayreplay::encode_png(image.width, image.height, bytes);
}

void write_png(const Image& image, const std::filesystem::path& path, bool overwrite) {
  write_file(path, encode_png(image), overwrite);
}

}  // namespace rayreplay::reference
