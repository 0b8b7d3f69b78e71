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

#include "base/parameters.hpp"

namespace rayreplay::sweep {

struct Leaf {
  std::string key;
  const toml::node* node = nullptr;
  toml::source_position at{};
};

/// Tables for which `is_value` holds are values; all others are parts of keys.
[[nodiscard]] std::vector<Leaf> leaves(const toml::table& table,
                                       const std::function<bool(const toml::table&)>& is_value = {});

struct Place {
  std::string source;
  std::size_t line = 0;                    ///< 0: unknown
  [[nodiscard]] std::string text() const;  ///< "s.toml:12"
};

[[nodiscard]] Place place(const std::string& source, const toml::source_position& at);

/// "a list", "a text", …
[[nodiscard]] std::string type_of(const toml::node& node);

/// A value of the experiment key `key`, as an experiment file in `folder` would have it: a list becomes a text with the
/// key's separators, relative paths are resolved.
[[nodiscard]] ParameterValue value_of(const toml::node& node, const std::string& key, const std::string& folder,
                                      const Place& at);

[[noreturn]] void usage(std::string what, std::string where, std::string found, std::string expected,
                        std::string fix = "");

}  // namespace rayreplay::sweep
