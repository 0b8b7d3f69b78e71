#include "capture/reference/meshes/image.hpp"

#include <cstring>
#include <limits>

namespace {

// Its PNG decoder copies the zero bytes of an empty IDAT chunk to a null pointer, which std::memcpy leaves undefined.
[[maybe_unused]] void* stb_copy_bytes(void* to, const void* from, std::size_t bytes) {
  return bytes == 0 ? to : std::memcpy(to, from, bytes);
}

}  // namespace

// Compiles stb_image with only the decoders that meshes use: less code that reads untrusted bytes. Internal linkage
// separates it from a linked libstb.
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_TGA
#define STBI_NO_STDIO
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#define memcpy stb_copy_bytes
#include <stb/stb_image.h>
#undef memcpy
#pragma GCC diagnostic pop

namespace rayreplay::reference {
namespace {

constexpr std::int64_t kMaxTexels = std::int64_t{1} << 26;

}  // namespace

bool decode_image(std::span<const unsigned char> bytes, Texture& texture, std::string& reason) {
  if (bytes.empty() || bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    reason = "it is empty or larger than 2 GiB";
    return false;
  }
  const auto size = static_cast<int>(bytes.size());
  int width = 0;
  int height = 0;
  int channels = 0;
  if (stbi_info_from_memory(bytes.data(), size, &width, &height, &channels) == 0) {
    reason = "it is not a PNG, JPEG, BMP or TGA picture";
    return false;
  }
  if (std::int64_t{width} * height > kMaxTexels) {
    reason = "it has more than 2^26 texels";
    return false;
  }
  stbi_uc* decoded = stbi_load_from_memory(bytes.data(), size, &width, &height, &channels, 4);
  if (decoded == nullptr) {
    reason = std::string("it is damaged: ") + stbi_failure_reason();
    return false;
  }
  texture.width = static_cast<std::uint32_t>(width);
  texture.height = static_cast<std::uint32_t>(height);
  texture.rgba.assign(decoded, decoded + std::size_t{4} * texture.width * texture.height);
  stbi_image_free(decoded);
  return true;
}

bool has_transparency(const Texture& texture) {
  for (std::size_t i = 3; i < texture.rgba.size(); i += 4) {
    if (texture.rgba[i] != 255) {
      return true;
    }
  }
  return false;
}

}  // namespace rayreplay::reference
