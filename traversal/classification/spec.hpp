// Specs of models (base/parameters.hpp) with a default for one parameter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rayreplay::traversal {

/// `spec` with key=value unless it sets the key. Errors: those of parse_spec.
[[nodiscard]] std::string with_setting(const std::string& spec, std::string_view key, std::uint64_t value);

}  // namespace rayreplay::traversal
