#include "app/report/charts/text.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include <stb/stb_easy_font.h>

namespace rayreplay::pictures {
namespace {

/// The vertex layout of stb_easy_font_print, four to a rectangle.
struct Vertex {
  float x, y, z;
  std::array<unsigned char, 4> color;
};
static_assert(sizeof(Vertex) == 16);

// An upper limit of the rectangles of one glyph.
constexpr std::size_t kRectanglesPerGlyph = 32;

std::string printable(const std::string& text) {
  std::string result = text;
  for (char& c : result) {
    if (c < ' ' || c > '~') {
      c = '?';
    }
  }
  return result;
}

}  // namespace

std::uint32_t text_width(const std::string& text, std::uint32_t scale) {
  std::string line = printable(text);
  return static_cast<std::uint32_t>(stb_easy_font_width(line.data())) * scale;
}

void draw_text(Image& image, std::int64_t x, std::int64_t y, const std::string& text, std::uint32_t scale, Rgb color) {
  std::string line = printable(text);
  std::vector<Vertex> vertices((line.size() + 1) * kRectanglesPerGlyph * 4);
  const int rectangles = stb_easy_font_print(0, 0, line.data(), nullptr, vertices.data(),
                                             static_cast<int>(vertices.size() * sizeof(Vertex)));
  for (std::size_t i = 0; i < static_cast<std::size_t>(rectangles); ++i) {
    const Vertex& low = vertices[i * 4];
    const Vertex& high = vertices[i * 4 + 2];
    const auto width = static_cast<std::int64_t>(high.x - low.x);
    const auto height = static_cast<std::int64_t>(high.y - low.y);
    image.fill_rectangle(x + static_cast<std::int64_t>(low.x) * scale, y + static_cast<std::int64_t>(low.y) * scale,
                         width * scale, height * scale, color);
  }
}

}  // namespace rayreplay::pictures
