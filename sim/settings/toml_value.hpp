// One value of a key as a TOML file has it, and the paths in it.
#pragma once

#include <functional>
#include <string>

#include <toml++/toml.h>

#include "base/parameters.hpp"

namespace rayreplay::experiment {

/// A list becomes a text with the key's separators; a relative path is in `folder`. Usage at `where` for unknown keys
/// and wrong types. Settings::set checks the value.
[[nodiscard]] ParameterValue value_of(const toml::node& node, const std::string& key, const std::string& folder,
                                      const std::string& where);

/// Applies `change` to every path in the text. Keys without files, and machines given by name, have no paths.
[[nodiscard]] std::string with_paths(const std::string& key, const std::string& text,
                                     const std::function<std::string(const std::string& path)>& change);

}  // namespace rayreplay::experiment
