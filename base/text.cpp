#include "base/text.hpp"

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace rayreplay::text {
namespace {

void append_bytes(std::string& result, std::string_view bytes) {
  for (const char c : bytes) {
    result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
}

std::string shown(std::string_view text, bool keep_line_ends) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded one = utf8::decode(text, at);
    const std::string_view bytes = text.substr(at, one.bytes);
    const bool ends_line = one.code == U'\n' || (one.code == U'\r' && text.substr(at + 1, 1) == "\n");
    if (one.valid && (utf8::only_shows(one.code) || (keep_line_ends && ends_line))) {
      result += bytes;
    } else if (!one.valid || one.code < 0x80) {
      append_bytes(result, bytes);
    } else {
      result += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(one.code));
    }
    at += one.bytes;
  }
  return result;
}

/// `fill` appends the replacement of a sequence that is not UTF-8.
template <class Fill>
std::string made_valid(std::string_view text, const Fill& fill) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded one = utf8::decode(text, at);
    const std::string_view bytes = text.substr(at, one.bytes);
    if (one.valid) {
      result += bytes;
    } else {
      fill(result, bytes);
    }
    at += one.bytes;
  }
  return result;
}

}  // namespace

std::size_t invalid_at(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded one = utf8::decode(text, at);
    if (!one.valid) {
      return at;
    }
    at += one.bytes;
  }
  return kAllValid;
}

std::string printable(std::string_view text) {
  return shown(text, false);
}

std::string printable_lines(std::string_view text) {
  return shown(text, true);
}

std::string as_utf8(std::string_view text) {
  return made_valid(text, append_bytes);
}

std::string replaced(std::string_view text) {
  return made_valid(text, [](std::string& result, std::string_view /*bytes*/) { result += "\xEF\xBF\xBD"; });
}

}  // namespace rayreplay::text
