#include "sim/machine/toml_quote.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace rayreplay::machine {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  const std::string all = text::as_utf8(text);
  for (std::size_t at = 0; at < all.size();) {
    const utf8::Decoded one = utf8::decode(all, at);
    if (one.code == U'"' || one.code == U'\\') {
      result += '\\';
      result += all[at];
    } else if (!utf8::only_shows(one.code)) {
      const auto code = static_cast<std::uint32_t>(one.code);
      result += code < 0x10000 ? fmt::format("\\u{:04X}", code) : fmt::format("\\U{:08X}", code);
    } else {
      result.append(all, at, one.bytes);
    }
    at += one.bytes;
  }
  return result + "\"";
}

}  // namespace rayreplay::machine
