// Tokens of formulas: numbers, names and signs, with their positions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rayreplay::scheduler::formula {

enum class TokenKind : std::uint8_t { Number, Name, Sign, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;  ///< of the formula
  double number = 0;
  std::uint32_t column = 0;  ///< byte
};

/// The last token is End. Usage for malformed tokens. `owner` as in expression.hpp. O(length).
[[nodiscard]] std::vector<Token> tokenize(std::string_view text, const std::string& owner);

}  // namespace rayreplay::scheduler::formula
