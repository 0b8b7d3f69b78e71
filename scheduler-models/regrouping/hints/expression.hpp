// Formulas of coherence hints: text to a tree of operations over fields of the pending call.
//
// Contract: one expression over numbers (12, 0.5, 1e3, 0x1F) and fields (fields.hpp) with the operators, weakest first:
//   ||   &&   == != < <= > >= (do not chain)   |   ^ (exclusive or)   &   << >>   + -   * / %   unary - !
// and the functions if(c, a, b), min(a, b), max(a, b), clamp(a, low, high), abs(a), floor(a), sqrt(a), log2(a) (rounded
// down), bits(a, high, low), hash(a, …) of one to four values. operations.hpp defines each. Nodes are in postorder,
// operands first and the root last, so that a pass over the tree needs no recursion. Errors: Usage, with the formula
// and a mark under the column. O(length); at most kMaxCharacters, nesting at most kMaxNesting.
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

inline constexpr std::size_t kMaxCharacters = 4096;
inline constexpr std::uint32_t kMaxNesting = 64;

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
  FieldSet fields;  ///< fields in the formula
};

/// `owner` names the formula in messages: "hint 'material'".
[[nodiscard]] Expression parse_expression(std::string_view text, const std::string& owner);

/// "in hint 'material', column 5:", the formula, and a mark under byte `column`: the `where` of errors.
[[nodiscard]] std::string point_at(std::string_view text, std::size_t column, const std::string& owner);

/// A node's operator or name as written: "%", "log2", "distance".
[[nodiscard]] std::string name_of(const Node& node);

}  // namespace rayreplay::scheduler::formula
