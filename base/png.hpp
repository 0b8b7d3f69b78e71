// PNG: 8-bit RGB pixels as the bytes of a file.
//
// Contract: row 0 on top; the same pixels give the same bytes. The encoder counts bytes in an int, so a picture is
// limited to kMaxPngBytes of (3 · width + 1) · height (about 18,900 pixels square). `require_png_size` throws Resource
// naming the limit: for checks before long work; `encode_png` makes the same check. Errors: Resource also when memory
// runs out; Internal when the number of bytes is not that of the pixels.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace rayreplay {

inline constexpr std::uint64_t kMaxPngBytes = std::uint64_t{1} << 30U;

/// `where`: the option or file whose picture this is.
void require_png_size(std::uint64_t width, std::uint64_t height, const std::string& where);

/// `rgb`: width · height · 3 bytes.
[[nodiscard]] std::string encode_png(std::uint32_t width, std::uint32_t height, std::span<const std::uint8_t> rgb);

}  // namespace rayreplay
