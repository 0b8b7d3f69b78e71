// Text in pictures: a bitmap font, ASCII only.
//
// Contract: glyphs of stb_easy_font (Sean Barrett, public domain), drawn `scale` pixels to a font pixel; a line is 12 ·
// scale pixels high. `text_width` is the width of the text in `draw_text`. Characters outside printable ASCII are drawn
// as '?'.
#pragma once

#include <cstdint>
#include <string>

#include "app/report/charts/image.hpp"

namespace rayreplay::pictures {

inline constexpr std::uint32_t kLineHeight = 12;  ///< font pixels

[[nodiscard]] std::uint32_t text_width(const std::string& text, std::uint32_t scale);
/// (x, y): the upper left corner.
void draw_text(Image& image, std::int64_t x, std::int64_t y, const std::string& text, std::uint32_t scale, Rgb color);

}  // namespace rayreplay::pictures
