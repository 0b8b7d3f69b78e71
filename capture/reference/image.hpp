// The rendered picture as a PNG.
//
// Contract: linear RGB becomes 8 bits with the book's gamma of 2 (square root); values beyond [0, 1] are clamped, NaN
// is black. `write_png` throws Output as base/output_file.hpp says, Resource when the picture is too large to encode.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rayreplay::reference {

struct Image {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<float> rgb;  ///< linear, row 0 at the top
};

[[nodiscard]] std::string encode_png(const Image& image);
void write_png(const Image& image, const std::filesystem::path& path, bool overwrite);

}  // namespace rayreplay::reference
