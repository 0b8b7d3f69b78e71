// Tokens of hint formulas: numbers, names and signs, with their positions.
//
// Contract: tokens in the order of the text, the last one End; their texts are views of it. Usage, with the column, for
// malformed tokens; `owner` as in expression.hpp. O(length).
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

[[nodiscard]] std::vector<Token> tokenize(std::string_view text, const std::string& owner);

}  // namespace rayreplay::scheduler::formula
