// Keys of a sweep file's tables, in the order of the file. Internal to this folder.
//
// Contract: toml++ sorts the keys of a table; this sorts them by their position in the text. Nested tables become
// dotted keys ("cache.l1.bytes"), as in an experiment file. Errors: Usage.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

namespace rayreplay::sweep {

struct Leaf {
  std::string key;
  const toml::node* node = nullptr;
  toml::source_position at{};
};

/// Tables for which `is_value` holds are values; all others are parts of keys.
[[nodiscard]] std::vector<Leaf> leaves(const toml::table& table,
                                       const std::function<bool(const toml::table&)>& is_value = {});

/// "s.toml:12", for messages.
[[nodiscard]] std::string place(const std::string& source, const toml::source_position& at);

/// "a list", "a text", …
[[nodiscard]] std::string type_of(const toml::node& node);

}  // namespace rayreplay::sweep
