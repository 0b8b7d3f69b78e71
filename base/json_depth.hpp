// Nesting depth of JSON text: a check that protects recursive parsers.
//
// Contract: no errors; any text is accepted. O(length), without memory.
#pragma once

#include <cstddef>
#include <string_view>

namespace rayreplay {

/// Whether lists and objects lie more than `most` levels inside one another; brackets in strings do not count. In
/// malformed text the answer covers the part before the first error, where a parser stops.
[[nodiscard]] bool is_json_deeper_than(std::string_view text, std::size_t most);

}  // namespace rayreplay
