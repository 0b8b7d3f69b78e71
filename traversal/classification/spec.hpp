// Sets a parameter in the spec of a model (base/parameters.hpp).
//
// Contract: `with_setting` adds key=value to `spec` unless the spec sets the key already. Errors: those of parse_spec.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rayreplay::traversal {

[[nodiscard]] std::string with_setting(const std::string& spec, std::string_view key, std::uint64_t value);

}  // namespace rayreplay::traversal
