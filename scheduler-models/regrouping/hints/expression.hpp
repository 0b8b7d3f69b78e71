// Formulas of coherence hints: text to a tree of operations over fields of the pending call.
//
// Contract: one expression over numbers (12, 0.5, 1e3, 0x1F), fields (fields.hpp), and, from the one that binds least:
//   ||   &&   == != < <= > >= (do not chain)   |   ^ (exclusive or)   &   << >>   + -   * / %   unary - !
// with functions if(c, a, b), min(a, b), max(a, b), clamp(a, low, high), abs(a), floor(a), sqrt(a), log2(a) (rounded
// down), bits(a, high, low), hash(a, …) of one to four values. operations.hpp says what each computes. Nodes stand in
// postorder: operands before what uses them, the root last; so nothing that goes through a tree has to recurse. Errors:
// Usage, which shows the formula with a mark under the column. O(length); at most kMostCharacters, nested at most
// kMostNesting deep.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "scheduler-models/regrouping/hints/fields.hpp"
#include "scheduler-models/regrouping/hints/operations.hpp"

namespace rayreplay::scheduler::formula {

inline constexpr std::size_t kMostCharacters = 4096;
inline constexpr std::uint32_t kMostNesting = 64;

struct Node {
  Operation operation = Operation::Number;
  std::uint8_t operand_count = 0;
  Field field = Field::Instance;            ///< Field
  double number = 0;                        ///< Number
  std::array<std::uint32_t, 3> operands{};  ///< indices of nodes
  std::uint32_t column = 0;                 ///< byte of the text where its operator, name or number stands
};

struct Expression {
  std::string text;
  std::vector<Node> nodes;
  FieldSet fields;  ///< that it uses
};

/// `owner` names the formula in messages: "hint 'material'".
[[nodiscard]] Expression parse_expression(std::string_view text, const std::string& owner);

/// "in hint 'material', column 5:", then the formula, then a mark under byte `column`: what an error's `where` shows.
[[nodiscard]] std::string point_at(std::string_view text, std::size_t column, const std::string& owner);

/// A node's operator or name as it is written: "%", "log2", "distance".
[[nodiscard]] std::string name_of(const Node& node);

}  // namespace rayreplay::scheduler::formula
