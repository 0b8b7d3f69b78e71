// How deeply JSON text is nested, before a parser that recurses sees it.
#pragma once

#include <cstddef>
#include <string_view>

namespace rayreplay {

/// Whether lists and objects lie more than `most` levels inside one another; brackets in strings do not count.
/// O(length), without memory. In malformed text the answer covers the part before the first error, where a parser
/// stops.
[[nodiscard]] bool is_json_deeper_than(std::string_view text, std::size_t most);

}  // namespace rayreplay
