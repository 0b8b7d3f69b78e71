// Texts cut to a length, for labels and lists.
//
// Contract: valid UTF-8 stays valid; any other bytes give at most the same length. No errors. O(length).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rayreplay::text {

/// The text in at most `most` bytes (3 or more). A longer text is cut between characters and ends in "…".
[[nodiscard]] inline std::string shortened(std::string_view text, std::size_t most) {
  constexpr std::string_view kEllipsis = "…";
  if (text.size() <= most) {
    return std::string(text);
  }
  std::size_t end = most - kEllipsis.size();
  // No character has more than three bytes behind its first.
  for (int back = 0; back < 3 && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80; ++back) {
    --end;
  }
  return std::string(text.substr(0, end)).append(kEllipsis);
}

}  // namespace rayreplay::text
