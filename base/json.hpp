// JSON in and out: the one place where text becomes JSON values, and JSON values become text.
//
// Contract: `json_text` never fails on a text that is not UTF-8: such bytes are written out as \xff (text.hpp,
// as_utf8), in values and in keys. Control characters and invisible format characters are JSON escapes (\u001b,
// \u202e), so that the output is safe on a terminal and means the same to a parser. `parse_json` takes untrusted text:
// it returns no value for text that is not JSON, is not UTF-8, or is nested deeper than `kMaxJsonDepth` (copying and
// printing a document recurse).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace rayreplay {

inline constexpr std::size_t kMaxJsonDepth = 100;

/// `indent` below 0: in one line.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value, int indent = -1);
[[nodiscard]] std::string json_text(const nlohmann::json& value, int indent = -1);

[[nodiscard]] std::optional<nlohmann::ordered_json> parse_json(std::string_view text);

}  // namespace rayreplay
