#include "app/report/charts/image.hpp"

#include <algorithm>

#include "base/png.hpp"

namespace rayreplay::pictures {

Image::Image(std::uint32_t width, std::uint32_t height, Rgb background)
    : width_(width), height_(height), bytes_(std::size_t{width} * height * 3) {
  fill_rectangle(0, 0, width, height, background);
}

Rgb Image::at(std::uint32_t x, std::uint32_t y) const {
  const std::size_t place = (std::size_t{y} * width_ + x) * 3;
  return {bytes_[place], bytes_[place + 1], bytes_[place + 2]};
}

void Image::set(std::uint32_t x, std::uint32_t y, Rgb color) {
  const std::size_t place = (std::size_t{y} * width_ + x) * 3;
  bytes_[place] = color.r;
  bytes_[place + 1] = color.g;
  bytes_[place + 2] = color.b;
}

void Image::fill_rectangle(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height, Rgb color) {
  const std::int64_t left = std::max<std::int64_t>(x, 0);
  const std::int64_t top = std::max<std::int64_t>(y, 0);
  const std::int64_t right = std::min<std::int64_t>(x + width, width_);
  const std::int64_t bottom = std::min<std::int64_t>(y + height, height_);
  for (std::int64_t row = top; row < bottom; ++row) {
    for (std::int64_t column = left; column < right; ++column) {
      set(static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(row), color);
    }
  }
}

std::string encode_png(const Image& image) {
  return rayreplay::encode_png(image.width(), image.height(), image.bytes());
}

}  // namespace rayreplay::pictures
