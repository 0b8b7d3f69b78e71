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
#include "sim/settings/parameter_table.hpp"

namespace rayreplay::sweep {
namespace {

enum class Kind { Number, Text, Truth, Any };
enum class Op {
  Constant,
  Key,
  Branch,  ///< after the left side of || and &&: skips the right side if the left one decides
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
// By precedence, and "<=" before "<": the first match counts.
constexpr std::array kOr = {OpText{"||", Op::Or}};
constexpr std::array kAnd = {OpText{"&&", Op::And}};
constexpr std::array kCompare = {OpText{"==", Op::Equal},     OpText{"!=", Op::Unequal}, OpText{"<=", Op::LessEqual},
                                 OpText{">=", Op::MoreEqual}, OpText{"<", Op::Less},     OpText{">", Op::More}};
constexpr std::array kSum = {OpText{"+", Op::Add}, OpText{"-", Op::Subtract}};
constexpr std::array kProduct = {OpText{"*", Op::Multiply}, OpText{"/", Op::Divide}, OpText{"%", Op::Remainder}};
constexpr std::size_t kLevels = 5;
/// Nesting limit of brackets and signs; more than hand-written conditions need.
constexpr int kMaxDepth = 100;
constexpr std::size_t kShownBefore = 60;
constexpr std::size_t kShownAfter = 60;

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

/// A value during evaluation; texts are views, not copies.
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

/// One step of a condition in postfix order.
struct Condition::Step {
  Op op = Op::Constant;
  std::size_t column = 0;  ///< counted from 1
  ParameterValue constant{};
  std::string key{};
  bool decides = false;  ///< Branch: the value of the left side that decides
  std::size_t next = 0;  ///< Branch: the step to continue at
};

namespace {

/// "s.toml:1, column 70 of "…surrounding text…"".
std::string place_in(const std::string& where, std::string_view text, std::size_t column) {
  const auto continues = [&](std::size_t at) { return at < text.size() && (text[at] & '\xC0') == '\x80'; };
  std::size_t begin = column > kShownBefore ? column - kShownBefore : 0;
  std::size_t end = std::min(text.size(), column + kShownAfter);
  while (begin > 0 && continues(begin)) {
    --begin;
  }
  while (continues(end)) {
    ++end;
  }
  return fmt::format("{}, column {} of \"{}{}{}\"", where, column, begin > 0 ? "…" : "",
                     text.substr(begin, end - begin), end < text.size() ? "…" : "");
}

[[noreturn]] void fail(std::string what, const std::string& where, std::string_view text, std::size_t column,
                       std::string found, std::string expected) {
  throw Error(ErrorKind::Usage,
              {std::move(what), place_in(where, text, column), std::move(found), std::move(expected), ""});
}

}  // namespace

/// Runs the steps with a value stack on the heap, without recursion: a long condition cannot overflow the program's
/// stack.
class ConditionRun {
 public:
  explicit ConditionRun(const Condition& condition) : condition_(condition) {}

  bool run(const Condition::Lookup& lookup) {
    const std::vector<Step>& steps = *condition_.steps_;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      if (step.op == Op::Branch) {
        if (typed(stack_.back(), Kind::Truth, step).truth == step.decides) {
          i = step.next - 1;
        } else {
          stack_.pop_back();
        }
      } else if (!take(step, lookup)) {
        return false;
      }
    }
    return typed(stack_.back(), Kind::Truth, steps.back()).truth;
  }

 private:
  using Step = Condition::Step;

  /// A missing value makes the whole condition false.
  bool take(const Step& step, const Condition::Lookup& lookup) {
    switch (step.op) {
      case Op::Constant:
        stack_.push_back(operand_of(step.constant));
        return true;
      case Op::Key: {
        const ParameterValue* found = lookup(step.key);
        if (found != nullptr) {
          stack_.push_back(operand_of(*found));
        }
        return found != nullptr;
      }
      case Op::Not:
      case Op::Negate: {
        Operand& operand = stack_.back();
        typed(operand, step.op == Op::Not ? Kind::Truth : Kind::Number, step);
        operand.truth = !operand.truth;
        operand.number = -operand.number;
        return true;
      }
      case Op::And:
      case Op::Or:
        typed(stack_.back(), Kind::Truth, step);
        return true;
      default:
        return binary(step);
    }
  }

  bool binary(const Step& step) {
    const Operand right = stack_.back();
    stack_.pop_back();
    Operand& left = stack_.back();
    if (is_comparison(step.op)) {
      typed(right, left.kind, step);
      if (left.kind == Kind::Truth && step.op != Op::Equal && step.op != Op::Unequal) {
        typed(left, Kind::Number, step);
      }
      left = {.kind = Kind::Truth, .truth = compares(step.op, left, right)};
      return true;
    }
    const std::optional<double> result =
        calculated(step.op, typed(left, Kind::Number, step).number, typed(right, Kind::Number, step).number);
    left = {.kind = Kind::Number, .number = result.value_or(0)};
    return result.has_value();
  }

  const Operand& typed(const Operand& operand, Kind wanted, const Step& step) const {
    if (operand.kind != wanted) {
      fail("the values do not go together", condition_.where_, condition_.text_, step.column, name_of(operand.kind),
           name_of(wanted));
    }
    return operand;
  }

  const Condition& condition_;
  std::vector<Operand> stack_;
};

/// Recursive descent; one function for all levels of binary operators.
class ConditionParser {
 public:
  ConditionParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  void parse() {
    const Part root = binary(0);
    skip();
    if (at_ < text_.size()) {
      fail_here("the condition goes on where it should end", "an operator or the end");
    }
    if (root.kind != Kind::Truth && root.kind != Kind::Any) {
      fail("the condition does not give a truth value", where_, text_, root.column, name_of(root.kind),
           "a comparison or a truth value");
    }
  }

  std::vector<std::string> keys;
  std::vector<Condition::Step> steps;

 private:
  /// Type of a parsed subexpression, and its first column for messages.
  struct Part {
    Kind kind = Kind::Any;
    std::size_t column = 0;
  };

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

  Part binary(std::size_t level) {
    if (level == kLevels) {
      return unary();
    }
    Part left = binary(level + 1);
    for (;;) {
      skip();
      const std::size_t column = at_ + 1;
      const std::optional<Op> op = operator_of(level);
      if (!op) {
        return left;
      }
      const std::size_t branch = steps.size();
      if (*op == Op::Or || *op == Op::And) {
        steps.push_back({.op = Op::Branch, .column = column, .decides = *op == Op::Or});
      }
      const Part right = binary(level + 1);
      steps.push_back({.op = *op, .column = column});
      if (*op == Op::Or || *op == Op::And) {
        steps[branch].next = steps.size();
      }
      left = joined(*op, column, left, right);
      if (is_comparison(*op)) {
        return left;  // rejects chained comparisons such as a < b < c
      }
    }
  }

  [[nodiscard]] Part joined(Op op, std::size_t column, const Part& left, const Part& right) const {
    if (is_comparison(op)) {
      const bool known = left.kind != Kind::Any && right.kind != Kind::Any;
      if (known && left.kind != right.kind) {
        fail("the two sides of the comparison are of different kinds", where_, text_, column,
             fmt::format("{} and {}", name_of(left.kind), name_of(right.kind)), "two of one kind");
      }
      if (left.kind == Kind::Truth && op != Op::Equal && op != Op::Unequal) {
        fail("truth values cannot be compared by size", where_, text_, column, "", "== or !=");
      }
      return {Kind::Truth, column};
    }
    const Part result{op == Op::Or || op == Op::And ? Kind::Truth : Kind::Number, column};
    check(left, result.kind);
    check(right, result.kind);
    return result;
  }

  void check(const Part& part, Kind wanted) const {
    if (part.kind != wanted && part.kind != Kind::Any) {
      fail("the operator does not apply to this type", where_, text_, part.column, name_of(part.kind), name_of(wanted));
    }
  }

  Part unary() {
    skip();
    if (++depth_ > kMaxDepth) {
      fail_here("the condition is nested too deeply", "fewer brackets");
    }
    const std::size_t column = at_ + 1;
    Part result;
    if (at_ < text_.size() && (text_[at_] == '!' || text_[at_] == '-')) {
      const Op op = text_[at_] == '!' ? Op::Not : Op::Negate;
      ++at_;
      result = {op == Op::Not ? Kind::Truth : Kind::Number, column};
      check(unary(), result.kind);
      steps.push_back({.op = op, .column = column});
    } else if (at_ < text_.size() && text_[at_] == '(') {
      ++at_;
      result = binary(0);
      skip();
      if (at_ == text_.size() || text_[at_] != ')') {
        fail_here("a bracket is not closed", "')'");
      }
      ++at_;
    } else {
      result = {atom(), column};
    }
    --depth_;
    return result;
  }

  Kind constant(ParameterValue value) {
    const Kind kind = kind_of(value);
    steps.push_back({.op = Op::Constant, .column = at_ + 1, .constant = std::move(value)});
    return kind;
  }

  Kind atom() {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '"' || c == '\'' || c == '`') {
      const std::size_t end = text_.find(c, at_ + 1);
      if (end == std::string_view::npos) {
        fail_here("a text is not closed", "a closing quote");
      }
      std::string inside(text_.substr(at_ + 1, end - at_ - 1));
      const std::size_t column = at_ + 1;
      at_ = end + 1;
      return c == '`' ? key(std::move(inside), column) : constant(std::move(inside));
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
      return constant(word == "true");
    }
    return key(std::move(word), begin + 1);
  }

  Kind number() {
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
    return constant(value);
  }

  Kind key(std::string name, std::size_t column) {
    const std::string place = place_in(where_, text_, column);
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
    steps.push_back({.op = Op::Key, .column = column, .key = std::move(name)});
    return kind;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Condition::Condition(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {
  if (text.size() > kMostCharacters) {
    throw Error(ErrorKind::Usage, {"the condition is too long", where_, fmt::format("{} characters", text.size()),
                                   fmt::format("at most {}", kMostCharacters), "`where` takes a list of conditions"});
  }
  ConditionParser parser(text_, where_);
  parser.parse();
  steps_ = std::make_shared<const std::vector<Step>>(std::move(parser.steps));
  keys_ = std::move(parser.keys);
}

bool Condition::holds(const Lookup& value) const {
  return !steps_ || ConditionRun(*this).run(value);
}

}  // namespace rayreplay::sweep
