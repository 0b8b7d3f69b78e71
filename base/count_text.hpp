// Counts in messages: a number and its noun, singular or plural.
//
// Contract: header only and of the standard library alone, so that the capture layer can use it too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rayreplay {

/// "12,345,678".
[[nodiscard]] inline std::string with_separators(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t place = digits.size(); place > 3; place -= 3) {
    digits.insert(place - 3, 1, ',');
  }
  return digits;
}

/// `one` for a count of 1, else `many`, which by default is `one` with an s.
[[nodiscard]] inline std::string noun(std::uint64_t count, std::string_view one, std::string_view many = {}) {
  return count == 1 ? std::string(one) : many.empty() ? std::string(one) + "s" : std::string(many);
}

/// "1 launch", "1,200 launches".
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view one, std::string_view many = {}) {
  return with_separators(count) + " " + noun(count, one, many);
}

}  // namespace rayreplay
