// Terminal-safe text. The layer's own copy: it must not bring libraries into applications.
//
// Contract: as rayreplay::text::printable (base/text.hpp): control characters, line breaks, invisible format characters
// and bytes that are not UTF-8 become \x1b, \u{202e}, \xff. Throws nothing but what std::string throws.
#pragma once

#include <string>
#include <string_view>

#include "base/utf8.hpp"

namespace rayreplay::layer {

[[nodiscard]] inline std::string printable(std::string_view text) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded one = utf8::decode(text, at);
    if (one.valid && utf8::only_shows(one.code)) {
      result += text.substr(at, one.bytes);
    } else if (one.valid && one.code >= 0x80) {
      std::string digits;
      for (char32_t rest = one.code; rest != 0; rest >>= 4U) {
        digits.insert(digits.begin(), kDigits[rest & 0xFU]);
      }
      result += "\\u{" + digits + "}";
    } else {
      for (const char c : text.substr(at, one.bytes)) {
        const auto byte = static_cast<unsigned char>(c);
        result += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
      }
    }
    at += one.bytes;
  }
  return result;
}

}  // namespace rayreplay::layer
