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
#include "base/parameters.hpp"
#include "base/registry.hpp"
#include "sim/settings/parameter_table.hpp"

namespace rayreplay::sweep {
namespace {

/// A value during evaluation; texts are views, not copies.
using Value = std::variant<bool, double, std::string_view>;
enum class Kind : std::size_t { Truth, Number, Text, Any };  // in the order of Value; Any: known only with a value

enum class Op {
  Constant,
  Key,
  Branch,  ///< after the left side of || and &&: skips the right side if the left one decides
  Or,
  And,
  Equal,
  Unequal,
  LessEqual,
  MoreEqual,
  Less,
  More,
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
  Not,
  Negate
};

struct BinaryOperator {
  int level;  ///< precedence
  std::string_view text;
  Op op;
};
// "<=" before "<": the first match counts.
constexpr std::array<BinaryOperator, 13> kOperators = {{{0, "||", Op::Or},
                                                        {1, "&&", Op::And},
                                                        {2, "==", Op::Equal},
                                                        {2, "!=", Op::Unequal},
                                                        {2, "<=", Op::LessEqual},
                                                        {2, ">=", Op::MoreEqual},
                                                        {2, "<", Op::Less},
                                                        {2, ">", Op::More},
                                                        {3, "+", Op::Add},
                                                        {3, "-", Op::Subtract},
                                                        {4, "*", Op::Multiply},
                                                        {4, "/", Op::Divide},
                                                        {4, "%", Op::Remainder}}};
constexpr int kLevels = 5;
/// Nesting limit of brackets and signs; more than hand-written conditions need.
constexpr int kMaxDepth = 100;
/// Characters that a message shows on either side of the place.
constexpr std::size_t kShown = 60;

const char* name_of(Kind kind) {
  constexpr std::array kNames = {"a truth value", "a number", "a text", "a value"};
  return kNames.at(static_cast<std::size_t>(kind));
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_comparison(Op op) {
  return op >= Op::Equal && op <= Op::More;
}

Value value_of(const ParameterValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return std::string_view(*text);
  }
  if (const auto* truth = std::get_if<bool>(&value)) {
    return *truth;
  }
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
}

/// Type and column of a part of a condition.
struct Part {
  Kind kind = Kind::Any;
  std::size_t column = 0;  ///< counted from 1
};

/// A part's value during evaluation.
struct Operand {
  Value value;
  std::size_t column = 0;
  [[nodiscard]] Part part() const {
    return {static_cast<Kind>(value.index()), column};
  }
};

/// Both sides have one type. Empty for a division by 0.
std::optional<Value> applied(Op op, const Value& left, const Value& right) {
  switch (op) {
    case Op::Equal:
      return left == right;
    case Op::Unequal:
      return left != right;
    case Op::LessEqual:
      return left <= right;
    case Op::MoreEqual:
      return left >= right;
    case Op::Less:
      return left < right;
    case Op::More:
      return left > right;
    default:
      break;
  }
  const double a = std::get<double>(left);
  const double b = std::get<double>(right);
  if ((op == Op::Divide || op == Op::Remainder) && b == 0) {
    return std::nullopt;
  }
  return op == Op::Add        ? a + b
         : op == Op::Subtract ? a - b
         : op == Op::Multiply ? a * b
         : op == Op::Divide   ? a / b
                              : std::fmod(a, b);
}

/// Text and place of a condition, for messages; and the checks of operand types. The parser checks the types that it
/// knows, evaluation checks the others.
struct Source {
  std::string_view text;
  std::string_view where;

  /// "s.toml:1, column 70 of "…surrounding text…"".
  [[nodiscard]] std::string place(std::size_t column) const {
    const auto continues = [&](std::size_t at) { return at < text.size() && (text[at] & '\xC0') == '\x80'; };
    std::size_t begin = column > kShown ? column - kShown : 0;
    std::size_t end = std::min(text.size(), column + kShown);
    while (begin > 0 && continues(begin)) {
      --begin;
    }
    while (continues(end)) {
      ++end;
    }
    return fmt::format("{}, column {} of \"{}{}{}\"", where, column, begin > 0 ? "…" : "",
                       text.substr(begin, end - begin), end < text.size() ? "…" : "");
  }

  [[noreturn]] void fail(std::string what, std::size_t column, std::string found, std::string expected) const {
    throw Error(ErrorKind::Usage, {std::move(what), place(column), std::move(found), std::move(expected), ""});
  }

  void require(const Part& part, Kind wanted) const {
    if (part.kind != wanted && part.kind != Kind::Any) {
      fail("the operator does not apply to this type", part.column, name_of(part.kind), name_of(wanted));
    }
  }

  Part joined(Op op, std::size_t column, const Part& left, const Part& right) const {
    if (!is_comparison(op)) {
      const Kind kind = op == Op::Or || op == Op::And ? Kind::Truth : Kind::Number;
      require(left, kind);
      require(right, kind);
      return {kind, column};
    }
    if (left.kind != Kind::Any && right.kind != Kind::Any && left.kind != right.kind) {
      fail("the two sides of the comparison are of different kinds", column,
           fmt::format("{} and {}", name_of(left.kind), name_of(right.kind)), "two of one kind");
    }
    if (left.kind == Kind::Truth && op != Op::Equal && op != Op::Unequal) {
      fail("truth values cannot be compared by size", column, "", "== or !=");
    }
    return {Kind::Truth, column};
  }

  void require_answer(const Part& whole) const {
    if (whole.kind != Kind::Truth && whole.kind != Kind::Any) {
      fail("the condition does not give a truth value", whole.column, name_of(whole.kind),
           "a comparison or a truth value");
    }
  }
};

}  // namespace

/// One step of a condition in postfix order.
struct Condition::Step {
  Op op = Op::Constant;
  std::size_t column = 0;
  ParameterValue constant{};
  std::string key{};
  bool decides = false;  ///< Branch: the value of the left side that decides
  std::size_t next = 0;  ///< Branch: the step to continue at
};

namespace {

/// The values that a key of names can have: its default, and those of its models or choices. None for other keys, and
/// where names may be those of files.
std::vector<std::string> names_of(const std::string& key) {
  const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
  if (parameter->is_path || parameter->declared.name != key) {
    return {};
  }
  std::vector<std::string> names = parameter->declared.choices;
  for (const ModelDescription& model : all_models()) {
    if (!parameter->model_kind.empty() && model.kind == parameter->model_kind) {
      names.push_back(model.name);
    }
  }
  const std::string standard = to_text(parameter->declared.default_value);
  const std::string first = standard.substr(0, standard.find(':'));
  if (!names.empty() && std::ranges::find(names, first) == names.end()) {
    names.push_back(first);
  }
  return names;
}

/// Recursive descent; one function for all levels of binary operators.
class Parser {
 public:
  explicit Parser(const Source& source) : source_(source), text_(source.text) {}

  void parse() {
    const Part whole = binary(0);
    skip();
    if (at_ < text_.size()) {
      fail_here("the condition goes on where it should end", "an operator or the end");
    }
    source_.require_answer(whole);
  }

  std::vector<std::string> keys;
  std::vector<Condition::Step> steps;

 private:
  [[noreturn]] void fail_here(const char* what, const char* expected) const {
    source_.fail(what, at_ + 1, at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_, 1)) : std::string("the end"),
                 expected);
  }

  [[nodiscard]] char here() const {
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void skip() {
    at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size());
  }

  [[nodiscard]] std::optional<Op> operator_of(int level) {
    for (const BinaryOperator& known : kOperators) {
      if (known.level == level && text_.substr(at_).starts_with(known.text)) {
        at_ += known.text.size();
        return known.op;
      }
    }
    return std::nullopt;
  }

  Part binary(int level) {
    if (level == kLevels) {
      return unary();
    }
    const std::size_t left_begin = steps.size();
    Part left = binary(level + 1);
    for (;;) {
      skip();
      const std::size_t column = at_ + 1;
      const std::optional<Op> op = operator_of(level);
      if (!op) {
        return left;
      }
      const bool branches = *op == Op::Or || *op == Op::And;
      const std::size_t branch = steps.size();
      if (branches) {
        steps.push_back({.op = Op::Branch, .column = column, .decides = *op == Op::Or});
      }
      const std::size_t right_begin = steps.size();
      const Part right = binary(level + 1);
      if (*op == Op::Equal || *op == Op::Unequal) {
        check_names(left_begin, right_begin);
      }
      steps.push_back({.op = *op, .column = column});
      if (branches) {
        steps[branch].next = steps.size();
      }
      left = source_.joined(*op, column, left, right);
      if (is_comparison(*op)) {
        return left;  // rejects chained comparisons such as a < b < c
      }
    }
  }

  /// Usage if a key of names is compared with a text that is none of them: the comparison would always come out alike.
  void check_names(std::size_t left, std::size_t right) const {
    if (right - left != 1 || steps.size() - right != 1) {
      return;
    }
    const Condition::Step& key = steps[left].op == Op::Key ? steps[left] : steps[right];
    const Condition::Step& constant = steps[left].op == Op::Key ? steps[right] : steps[left];
    const auto* name = std::get_if<std::string>(&constant.constant);
    if (key.op != Op::Key || constant.op != Op::Constant || name == nullptr) {
      return;
    }
    const std::vector<std::string> known = names_of(key.key);
    if (known.empty() || std::ranges::find(known, *name) != known.end()) {
      return;
    }
    const std::string near = nearest(name->substr(0, name->find(':')), known);
    throw Error(ErrorKind::Usage,
                {fmt::format("the key {} never has this value", key.key), source_.place(constant.column),
                 fmt::format("\"{}\"", *name), fmt::format("one of {}", fmt::join(known, ", ")),
                 name->find(':') != std::string::npos
                     ? fmt::format("compare the name alone, and {}:PARAM with a parameter's value", key.key)
                 : near.empty() ? std::string()
                                : fmt::format("did you mean '{}'?", near)});
  }

  Part unary() {
    skip();
    if (++depth_ > kMaxDepth) {
      fail_here("the condition is nested too deeply", "fewer brackets");
    }
    const std::size_t column = at_ + 1;
    Part result;
    if (here() == '!' || here() == '-') {
      const Op op = here() == '!' ? Op::Not : Op::Negate;
      ++at_;
      result = {op == Op::Not ? Kind::Truth : Kind::Number, column};
      source_.require(unary(), result.kind);
      steps.push_back({.op = op, .column = column});
    } else if (here() == '(') {
      ++at_;
      result = binary(0);
      skip();
      if (here() != ')') {
        fail_here("a bracket is not closed", "')'");
      }
      ++at_;
    } else {
      result = {atom(column), column};
    }
    --depth_;
    return result;
  }

  Kind constant(ParameterValue value, std::size_t column) {
    const auto kind = static_cast<Kind>(value_of(value).index());
    steps.push_back({.op = Op::Constant, .column = column, .constant = std::move(value)});
    return kind;
  }

  Kind atom(std::size_t column) {
    const char c = here();
    if (c == '"' || c == '\'' || c == '`') {
      const std::size_t end = text_.find(c, at_ + 1);
      if (end == std::string_view::npos) {
        fail_here("a text is not closed", "a closing quote");
      }
      std::string inside(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return c == '`' ? key(std::move(inside), column) : constant(std::move(inside), column);
    }
    if (is_digit(c) || c == '.') {
      return number(column);
    }
    if (!is_word(c)) {
      fail_here("a value is missing", "a key of an experiment, a number, a \"text\", true, false or '('");
    }
    const std::size_t begin = at_;
    while (is_word(here()) || is_digit(here()) || here() == '.' || here() == ':') {
      ++at_;
    }
    std::string word(text_.substr(begin, at_ - begin));
    return word == "true" || word == "false" ? constant(word == "true", column) : key(std::move(word), column);
  }

  Kind number(std::size_t column) {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) {
      fail_here("this is no number", "a number");
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    for (const auto& [unit, factor] : {std::pair("KiB", 0x1p10), std::pair("MiB", 0x1p20), std::pair("GiB", 0x1p30)}) {
      if (text_.substr(at_).starts_with(unit)) {
        at_ += std::string_view(unit).size();
        value *= factor;
        break;
      }
    }
    if (is_word(here()) || is_digit(here()) || here() == '.') {
      fail_here("the number goes on with something else", "a number, perhaps with KiB, MiB or GiB");
    }
    return constant(value, column);
  }

  Kind key(std::string name, std::size_t column) {
    const experiment::ExperimentParameter* parameter = experiment::find_parameter(name);
    if (parameter == nullptr) {
      experiment::unknown_key(name, source_.place(column));
    }
    auto kind = static_cast<Kind>(value_of(parameter->declared.default_value).index());
    if (name.find(':') != std::string::npos) {
      if (parameter->model_kind.empty()) {
        source_.fail("the key does not hold a model, so that it has no parameters", column, "'" + name + "'",
                     "a key without ':'");
      }
      kind = Kind::Any;
    }
    if (std::ranges::find(keys, name) == keys.end()) {
      keys.push_back(name);
    }
    steps.push_back({.op = Op::Key, .column = column, .key = std::move(name)});
    return kind;
  }

  Source source_;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Condition::Condition(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {
  if (text.size() > kMaxCharacters) {
    throw Error(ErrorKind::Usage, {"the condition is too long", where_, fmt::format("{} characters", text.size()),
                                   fmt::format("at most {}", kMaxCharacters), "`where` takes a list of conditions"});
  }
  Parser parser({text_, where_});
  parser.parse();
  steps_ = std::make_shared<const std::vector<Step>>(std::move(parser.steps));
  keys_ = std::move(parser.keys);
}

bool Condition::holds(const Lookup& lookup) const {
  if (!steps_) {
    return true;
  }
  const Source source{text_, where_};
  // On the heap: a long condition cannot overflow the program's stack.
  std::vector<Operand> stack;
  for (std::size_t i = 0; i < steps_->size(); ++i) {
    const Step& step = (*steps_)[i];
    if (step.op == Op::Constant) {
      stack.push_back({value_of(step.constant), step.column});
      continue;
    }
    if (step.op == Op::Key) {
      const ParameterValue* found = lookup(step.key);
      if (found == nullptr) {
        return false;
      }
      stack.push_back({value_of(*found), step.column});
      continue;
    }
    const Operand last = stack.back();
    switch (step.op) {
      case Op::Branch:
        source.require(last.part(), Kind::Truth);
        if (std::get<bool>(last.value) == step.decides) {
          i = step.next - 1;
        } else {
          stack.pop_back();
        }
        break;
      case Op::Or:
      case Op::And:
        source.require(last.part(), Kind::Truth);
        break;
      case Op::Not:
        source.require(last.part(), Kind::Truth);
        stack.back() = {!std::get<bool>(last.value), step.column};
        break;
      case Op::Negate:
        source.require(last.part(), Kind::Number);
        stack.back() = {-std::get<double>(last.value), step.column};
        break;
      default: {
        stack.pop_back();
        Operand& left = stack.back();
        static_cast<void>(source.joined(step.op, step.column, left.part(), last.part()));
        const std::optional<Value> result = applied(step.op, left.value, last.value);
        if (!result) {
          return false;
        }
        left = {*result, step.column};
      }
    }
  }
  source.require_answer(stack.back().part());
  return std::get<bool>(stack.back().value);
}

}  // namespace rayreplay::sweep
