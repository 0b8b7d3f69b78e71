// UTF-8, one code point at a time, and which code points a terminal shows.
//
// Contract: the standard library alone, no allocation, nothing is thrown: the layer uses it inside applications.
// `decode` accepts what RFC 3629 accepts: no overlong forms, no surrogates, nothing above U+10FFFF. Of a sequence that
// is not UTF-8 it gives the bytes that could begin one (Unicode 15, section 3.9: "maximal subpart"), at least one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace rayreplay::utf8 {

struct Decoded {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// The code point at byte `at`, which is less than the text's length.
[[nodiscard]] constexpr Decoded decode(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    return {first, 1, true};
  }
  const std::size_t bytes = first >= 0xC2 && first < 0xE0   ? 2
                            : first >= 0xE0 && first < 0xF0 ? 3
                            : first >= 0xF0 && first < 0xF5 ? 4
                                                            : 0;
  if (bytes == 0) {
    return {first, 1, false};
  }
  // The second byte's range keeps out overlong forms, surrogates and what lies above U+10FFFF.
  unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  char32_t code = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (at + i >= text.size() || byte(i) < low || byte(i) > high) {
      return {first, i, false};
    }
    code = code << 6U | (byte(i) & 0x3FU);
    low = 0x80;
    high = 0xBF;
  }
  return {code, bytes, true};
}

/// Whether a terminal displays the code point without side effects: no control character (C0, DEL, C1), no line or
/// paragraph separator, no mark of direction, and none of the other invisible format characters of Unicode 15.
[[nodiscard]] constexpr bool only_shows(char32_t code) noexcept {
  struct Range {
    char32_t first, last;
  };
  constexpr std::array<Range, 16> kHidden = {{{0x00, 0x1F},
                                              {0x7F, 0x9F},
                                              {0xAD, 0xAD},
                                              {0x61C, 0x61C},
                                              {0x180E, 0x180E},
                                              {0x200B, 0x200F},
                                              {0x2028, 0x202E},
                                              {0x2060, 0x206F},
                                              {0xFEFF, 0xFEFF},
                                              {0xFFF9, 0xFFFB},
                                              {0x110BD, 0x110BD},
                                              {0x110CD, 0x110CD},
                                              {0x13430, 0x1345F},
                                              {0x1BCA0, 0x1BCA3},
                                              {0x1D173, 0x1D17A},
                                              {0xE0000, 0xE00FF}}};
  return std::none_of(kHidden.begin(), kHidden.end(),
                      [code](const Range& range) { return code >= range.first && code <= range.last; });
}

}  // namespace rayreplay::utf8
