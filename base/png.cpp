#include "base/png.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

// The one place where the encoder is compiled. stb's code is not written for our warnings; internal linkage keeps it
// apart from a libstb that others may link.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace rayreplay {

void require_png_size(std::uint64_t width, std::uint64_t height, const std::string& where) {
  // Divided, because the product of two such numbers need not fit.
  const bool fits = width > 0 && height > 0 && width <= kMaxPngBytes / 3 && height <= kMaxPngBytes / (3 * width + 1);
  if (!fits) {
    throw Error(ErrorKind::Resource,
                {"the picture is too large for a PNG file", where, fmt::format("{}x{} pixels", width, height),
                 fmt::format("1x1 or more, and (3 * width + 1) * height at most {}", kMaxPngBytes),
                 "choose a smaller size, or leave the picture out"});
  }
}

std::string encode_png(std::uint32_t width, std::uint32_t height, std::span<const std::uint8_t> rgb) {
  require_png_size(width, height, "");
  const std::size_t expected = std::size_t{width} * height * 3;
  if (rgb.size() != expected) {
    throw Error(ErrorKind::Internal, {"a picture's size and pixels disagree", "", fmt::format("{} bytes", rgb.size()),
                                      fmt::format("{}", expected), ""});
  }
  std::string png;
  const auto append = [](void* target, void* data, int size) {
    static_cast<std::string*>(target)->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
  };
  const int done = stbi_write_png_to_func(append, &png, static_cast<int>(width), static_cast<int>(height), 3,
                                          rgb.data(), static_cast<int>(width * 3));
  if (done == 0) {
    throw Error(ErrorKind::Resource, {"not enough memory to encode the picture", "",
                                      fmt::format("{}x{} pixels", width, height), "", "choose a smaller size"});
  }
  return png;
}

}  // namespace rayreplay
