#include "sim/sweep/definition/condition.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/experiment/settings/parameter_table.hpp"

namespace rayreplay::sweep {
namespace {

enum class Kind { Number, Text, Truth, Any };
enum class Op {
  Constant,
  Key,
  Or,
  And,
  Equal,
  Unequal,
  Less,
  LessEqual,
  More,
  MoreEqual,
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
  Not,
  Negate
};

struct OpText {
  std::string_view text;
  Op op;
};
// By level of precedence; longer ones first where one begins like another.
constexpr std::array kOr = {OpText{"||", Op::Or}};
constexpr std::array kAnd = {OpText{"&&", Op::And}};
constexpr std::array kCompare = {OpText{"==", Op::Equal},     OpText{"!=", Op::Unequal}, OpText{"<=", Op::LessEqual},
                                 OpText{">=", Op::MoreEqual}, OpText{"<", Op::Less},     OpText{">", Op::More}};
constexpr std::array kSum = {OpText{"+", Op::Add}, OpText{"-", Op::Subtract}};
constexpr std::array kProduct = {OpText{"*", Op::Multiply}, OpText{"/", Op::Divide}, OpText{"%", Op::Remainder}};
constexpr std::size_t kLevels = 5;
/// Brackets and signs inside one another: what a person writes has a few.
constexpr int kMostDepth = 100;

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::Number:
      return "a number";
    case Kind::Text:
      return "a text";
    case Kind::Truth:
      return "a truth value";
    case Kind::Any:
      break;
  }
  return "a value";
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A value while a condition is computed; texts are looked at, not copied.
struct Operand {
  Kind kind = Kind::Number;
  double number = 0;
  bool truth = false;
  std::string_view text{};
};

Kind kind_of(const ParameterValue& value) {
  if (std::holds_alternative<bool>(value)) {
    return Kind::Truth;
  }
  return std::holds_alternative<std::string>(value) ? Kind::Text : Kind::Number;
}

Operand operand_of(const ParameterValue& value) {
  if (const auto* truth = std::get_if<bool>(&value)) {
    return {.kind = Kind::Truth, .truth = *truth};
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return {.kind = Kind::Number, .number = static_cast<double>(*whole)};
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return {.kind = Kind::Number, .number = *real};
  }
  return {.kind = Kind::Text, .text = std::get<std::string>(value)};
}

template <class Value>
bool ordered(Op op, const Value& left, const Value& right) {
  switch (op) {
    case Op::Less:
      return left < right;
    case Op::LessEqual:
      return left <= right;
    case Op::More:
      return left > right;
    default:
      return left >= right;
  }
}

bool compares(Op op, const Operand& left, const Operand& right) {
  if (op == Op::Equal || op == Op::Unequal) {
    const bool same = left.kind == Kind::Number  ? left.number == right.number
                      : left.kind == Kind::Truth ? left.truth == right.truth
                                                 : left.text == right.text;
    return same == (op == Op::Equal);
  }
  return left.kind == Kind::Text ? ordered(op, left.text, right.text) : ordered(op, left.number, right.number);
}

std::optional<double> calculated(Op op, double left, double right) {
  switch (op) {
    case Op::Add:
      return left + right;
    case Op::Subtract:
      return left - right;
    case Op::Multiply:
      return left * right;
    case Op::Divide:
      return right == 0 ? std::nullopt : std::optional(left / right);
    default:
      return right == 0 ? std::nullopt : std::optional(std::fmod(left, right));
  }
}

bool is_comparison(Op op) {
  return op >= Op::Equal && op <= Op::MoreEqual;
}

}  // namespace

struct Condition::Node {
  Op op = Op::Constant;
  Kind kind = Kind::Any;
  std::size_t column = 0;  ///< from 1
  ParameterValue constant{};
  std::string key{};
  std::vector<Node> children{};

  [[nodiscard]] std::optional<Operand> value(const Condition& condition, const Lookup& lookup) const;
  [[nodiscard]] Operand typed(const Operand& operand, Kind wanted, const Condition& condition) const;
};

namespace {

[[noreturn]] void fail(std::string what, const std::string& where, std::string_view text, std::size_t column,
                       std::string found, std::string expected) {
  throw Error(ErrorKind::Usage, {std::move(what), fmt::format("{}, column {} of \"{}\"", where, column, text),
                                 std::move(found), std::move(expected), ""});
}

}  // namespace

Operand Condition::Node::typed(const Operand& operand, Kind wanted, const Condition& condition) const {
  if (operand.kind != wanted) {
    fail("the values do not go together", condition.where_, condition.text_, column, name_of(operand.kind),
         name_of(wanted));
  }
  return operand;
}

std::optional<Operand> Condition::Node::value(const Condition& condition, const Lookup& lookup) const {
  if (op == Op::Constant) {
    return operand_of(constant);
  }
  if (op == Op::Key) {
    const ParameterValue* found = lookup(key);
    return found == nullptr ? std::nullopt : std::optional(operand_of(*found));
  }
  const std::optional<Operand> left = children.front().value(condition, lookup);
  if (!left) {
    return left;
  }
  if (op == Op::Not || op == Op::Negate) {
    Operand result = typed(*left, op == Op::Not ? Kind::Truth : Kind::Number, condition);
    result.truth = !result.truth;
    result.number = -result.number;
    return result;
  }
  if (op == Op::And || op == Op::Or) {
    if (typed(*left, Kind::Truth, condition).truth == (op == Op::Or)) {
      return left;
    }
    const std::optional<Operand> right = children.back().value(condition, lookup);
    return right ? std::optional(typed(*right, Kind::Truth, condition)) : right;
  }
  const std::optional<Operand> right = children.back().value(condition, lookup);
  if (!right) {
    return right;
  }
  if (is_comparison(op)) {
    static_cast<void>(typed(*right, left->kind, condition));
    if (left->kind == Kind::Truth && op != Op::Equal && op != Op::Unequal) {
      static_cast<void>(typed(*left, Kind::Number, condition));
    }
    return Operand{.kind = Kind::Truth, .truth = compares(op, *left, *right)};
  }
  const std::optional<double> result =
      calculated(op, typed(*left, Kind::Number, condition).number, typed(*right, Kind::Number, condition).number);
  return result ? std::optional(Operand{.kind = Kind::Number, .number = *result}) : std::nullopt;
}

/// Recursive descent; one function for all the levels of binary operators.
class ConditionParser {
 public:
  ConditionParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Condition::Node parse() {
    Condition::Node root = binary(0);
    skip();
    if (at_ < text_.size()) {
      fail_here("the condition goes on where it should end", "an operator or the end");
    }
    if (root.kind != Kind::Truth && root.kind != Kind::Any) {
      fail("this is no condition", where_, text_, root.column, name_of(root.kind), "a comparison or a truth value");
    }
    return root;
  }

  std::vector<std::string> keys;

 private:
  using Node = Condition::Node;

  [[noreturn]] void fail_here(const char* what, const char* expected) const {
    fail(what, where_, text_, at_ + 1,
         at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_, 1)) : std::string("the end"), expected);
  }

  void skip() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  [[nodiscard]] std::optional<Op> operator_of(std::size_t level) {
    const auto among = [this](const auto& list) -> std::optional<Op> {
      for (const OpText& candidate : list) {
        if (text_.substr(at_).starts_with(candidate.text)) {
          at_ += candidate.text.size();
          return candidate.op;
        }
      }
      return std::nullopt;
    };
    skip();
    switch (level) {
      case 0:
        return among(kOr);
      case 1:
        return among(kAnd);
      case 2:
        return among(kCompare);
      case 3:
        return among(kSum);
      default:
        return among(kProduct);
    }
  }

  Node binary(std::size_t level) {
    if (level == kLevels) {
      return unary();
    }
    Node left = binary(level + 1);
    for (;;) {
      skip();
      const std::size_t column = at_ + 1;
      const std::optional<Op> op = operator_of(level);
      if (!op) {
        return left;
      }
      Node right = binary(level + 1);
      left = joined(*op, column, std::move(left), std::move(right));
      if (is_comparison(*op)) {
        return left;  // a < b < c is not what it looks like
      }
    }
  }

  Node joined(Op op, std::size_t column, Node left, Node right) {
    Node node{.op = op, .kind = Kind::Number, .column = column};
    if (is_comparison(op)) {
      node.kind = Kind::Truth;
      const bool known = left.kind != Kind::Any && right.kind != Kind::Any;
      if (known && left.kind != right.kind) {
        fail("the two sides of the comparison are of different kinds", where_, text_, column,
             fmt::format("{} and {}", name_of(left.kind), name_of(right.kind)), "two of one kind");
      }
      if (left.kind == Kind::Truth && op != Op::Equal && op != Op::Unequal) {
        fail("truth values have no order", where_, text_, column, "", "== or !=");
      }
    } else {
      node.kind = op == Op::Or || op == Op::And ? Kind::Truth : Kind::Number;
      check(left, node.kind);
      check(right, node.kind);
    }
    node.children.push_back(std::move(left));
    node.children.push_back(std::move(right));
    return node;
  }

  void check(const Node& node, Kind wanted) const {
    if (node.kind != wanted && node.kind != Kind::Any) {
      fail("the operator does not take this", where_, text_, node.column, name_of(node.kind), name_of(wanted));
    }
  }

  Node unary() {
    skip();
    if (++depth_ > kMostDepth) {
      fail_here("the condition is nested too deeply", "fewer brackets");
    }
    const std::size_t column = at_ + 1;
    Node result;
    if (at_ < text_.size() && (text_[at_] == '!' || text_[at_] == '-')) {
      const Op op = text_[at_] == '!' ? Op::Not : Op::Negate;
      ++at_;
      result = Node{.op = op, .kind = op == Op::Not ? Kind::Truth : Kind::Number, .column = column};
      Node inner = unary();
      check(inner, result.kind);
      result.children.push_back(std::move(inner));
    } else if (at_ < text_.size() && text_[at_] == '(') {
      ++at_;
      result = binary(0);
      skip();
      if (at_ == text_.size() || text_[at_] != ')') {
        fail_here("a bracket is not closed", "')'");
      }
      ++at_;
    } else {
      result = atom();
      result.column = column;
    }
    --depth_;
    return result;
  }

  Node atom() {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '"' || c == '\'' || c == '`') {
      const std::size_t end = text_.find(c, at_ + 1);
      if (end == std::string_view::npos) {
        fail_here("a text is not closed", "a second one of this");
      }
      std::string inside(text_.substr(at_ + 1, end - at_ - 1));
      const std::size_t column = at_ + 1;
      at_ = end + 1;
      return c == '`' ? key(std::move(inside), column)
                      : Node{.op = Op::Constant, .kind = Kind::Text, .constant = std::move(inside)};
    }
    if (is_digit(c) || c == '.') {
      return number();
    }
    if (!is_word(c)) {
      fail_here("a value is missing", "a key of an experiment, a number, a \"text\", true, false or '('");
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (is_word(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.' || text_[at_] == ':')) {
      ++at_;
    }
    std::string word(text_.substr(begin, at_ - begin));
    if (word == "true" || word == "false") {
      return {.op = Op::Constant, .kind = Kind::Truth, .constant = word == "true"};
    }
    return key(std::move(word), begin + 1);
  }

  Node number() {
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) {
      fail_here("this is no number", "a number");
    }
    at_ += static_cast<std::size_t>(end - begin);
    constexpr double kKibi = 1024;
    const std::array<std::pair<std::string_view, double>, 3> units = {
        {{"KiB", kKibi}, {"MiB", kKibi * kKibi}, {"GiB", kKibi * kKibi * kKibi}}};
    for (const auto& [unit, factor] : units) {
      if (text_.substr(at_).starts_with(unit)) {
        at_ += unit.size();
        value *= factor;
        break;
      }
    }
    if (at_ < text_.size() && (is_word(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) {
      fail_here("the number goes on with something else", "a number, perhaps with KiB, MiB or GiB");
    }
    return {.op = Op::Constant, .kind = Kind::Number, .constant = value};
  }

  Node key(std::string name, std::size_t column) {
    const std::string place = fmt::format("{}, column {} of \"{}\"", where_, column, text_);
    const experiment::ExperimentParameter* parameter = experiment::find_parameter(name);
    if (parameter == nullptr) {
      experiment::unknown_key(name, place);
    }
    Kind kind = kind_of(parameter->declared.default_value);
    if (name.find(':') != std::string::npos) {
      if (parameter->model_kind.empty()) {
        fail("the key does not hold a model, so that it has no parameters", where_, text_, column, "'" + name + "'",
             "a key without ':'");
      }
      kind = Kind::Any;
    }
    if (std::find(keys.begin(), keys.end(), name) == keys.end()) {
      keys.push_back(name);
    }
    return {.op = Op::Key, .kind = kind, .column = column, .key = std::move(name)};
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Condition::Condition(std::string_view text, const std::string& where) : text_(text), where_(where) {
  ConditionParser parser(text_, where_);
  root_ = std::make_shared<const Node>(parser.parse());
  keys_ = std::move(parser.keys);
}

bool Condition::holds(const Lookup& value) const {
  if (!root_) {
    return true;
  }
  const std::optional<Operand> result = root_->value(*this, value);
  return result && root_->typed(*result, Kind::Truth, *this).truth;
}

}  // namespace rayreplay::sweep
