// Lists written as one text: "a,b,c".
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace rayreplay {

/// The items between the separators, empty ones included: one more than there are separators.
[[nodiscard]] inline std::vector<std::string> list_items(std::string_view list, char separator) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= list.size(); begin += items.back().size() + 1) {
    items.emplace_back(list.substr(begin, std::min(list.find(separator, begin), list.size()) - begin));
  }
  return items;
}

/// Without blanks at the begin and the end.
[[nodiscard]] inline std::string trimmed(std::string_view text, std::string_view blanks = " ") {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return std::string(text.substr(0, text.find_last_not_of(blanks) + 1));
}

}  // namespace rayreplay
