// Image: 8-bit RGB pixels, row 0 on top, and its PNG form.
//
// Contract: `fill_rectangle` clips at the borders. `encode_png` returns the bytes of a file; the same image gives the
// same bytes. Errors: Resource as in base/png.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rayreplay::pictures {

struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  bool operator==(const Rgb&) const = default;
};

class Image {
 public:
  Image(std::uint32_t width, std::uint32_t height, Rgb background = {});

  [[nodiscard]] std::uint32_t width() const {
    return width_;
  }
  [[nodiscard]] std::uint32_t height() const {
    return height_;
  }
  /// Undefined outside the image.
  [[nodiscard]] Rgb at(std::uint32_t x, std::uint32_t y) const;
  void set(std::uint32_t x, std::uint32_t y, Rgb color);
  void fill_rectangle(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height, Rgb color);
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const {
    return bytes_;
  }

 private:
  std::uint32_t width_;
  std::uint32_t height_;
  std::vector<std::uint8_t> bytes_;
};

[[nodiscard]] std::string encode_png(const Image& image);

}  // namespace rayreplay::pictures
