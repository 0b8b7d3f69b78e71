// A word of a command line as a shell reads it back.
//
// Contract: the word itself where it holds letters, digits and -_./=,: alone, else in single quotes, with each quote in
// it as '\''. O(length).
#pragma once

#include <string>
#include <string_view>

namespace rayreplay {

[[nodiscard]] inline std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char letter : word) {
    quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return quoted + "'";
}

}  // namespace rayreplay
