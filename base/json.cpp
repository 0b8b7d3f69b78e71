#include "base/json.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_depth.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace rayreplay {
namespace {

template <class Json>
bool is_utf8(const Json& value) {
  if (value.is_string()) {
    return text::invalid_at(value.template get_ref<const std::string&>()) == text::kAllValid;
  }
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      if (text::invalid_at(key) != text::kAllValid || !is_utf8(item)) {
        return false;
      }
    }
    return true;
  }
  return !value.is_array() || std::all_of(value.begin(), value.end(), [](const Json& item) { return is_utf8(item); });
}

template <class Json>
Json made_utf8(const Json& value) {
  if (value.is_string()) {
    return text::as_utf8(value.template get_ref<const std::string&>());
  }
  Json result = value;
  if (value.is_object()) {
    result = Json::object();
    for (const auto& [key, item] : value.items()) {
      result[text::as_utf8(key)] = made_utf8(item);
    }
  } else if (value.is_array()) {
    result = Json::array();
    for (const Json& item : value) {
      result.push_back(made_utf8(item));
    }
  }
  return result;
}

/// Escapes invisible characters, which the library leaves unescaped. They occur inside strings only.
std::string with_escapes(const std::string& dumped) {
  std::string result;
  result.reserve(dumped.size());
  for (std::size_t at = 0; at < dumped.size();) {
    const utf8::Decoded one = utf8::decode(dumped, at);
    const auto code = static_cast<std::uint32_t>(one.code);
    if (utf8::only_shows(one.code) || code < 0x20) {
      result.append(dumped, at, one.bytes);  // below 0x20: the line feeds between values
    } else if (code < 0x10000) {
      result += fmt::format("\\u{:04x}", code);
    } else {
      result += fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + ((code - 0x10000U) >> 10U), 0xDC00U + (code & 0x3FFU));
    }
    at += one.bytes;
  }
  return result;
}

template <class Json>
std::string to_json_text(const Json& value, int indent) {
  return with_escapes(is_utf8(value) ? value.dump(indent) : made_utf8(value).dump(indent));
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& value, int indent) {
  return to_json_text(value, indent);
}

std::string json_text(const nlohmann::json& value, int indent) {
  return to_json_text(value, indent);
}

std::optional<nlohmann::ordered_json> parse_json(std::string_view text) {
  if (is_json_deeper_than(text, kMaxJsonDepth)) {
    return std::nullopt;
  }
  nlohmann::ordered_json value = nlohmann::ordered_json::parse(text, nullptr, false);
  return value.is_discarded() ? std::nullopt : std::optional(std::move(value));
}

}  // namespace rayreplay
