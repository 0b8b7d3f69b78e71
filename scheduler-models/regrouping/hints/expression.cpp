#include "scheduler-models/regrouping/hints/expression.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/parameters.hpp"
#include "scheduler-models/regrouping/hints/tokens.hpp"

namespace rayreplay::scheduler::formula {
namespace {

struct Binary {
  std::string_view sign;
  int level;  ///< higher binds more
  Operation operation;
};

constexpr int kComparison = 2;
constexpr int kHighest = 8;

constexpr std::array<Binary, 18> kBinaries = {{{"||", 0, Operation::Or},
                                               {"&&", 1, Operation::And},
                                               {"==", kComparison, Operation::Equal},
                                               {"!=", kComparison, Operation::NotEqual},
                                               {"<", kComparison, Operation::Less},
                                               {"<=", kComparison, Operation::LessEqual},
                                               {">", kComparison, Operation::Greater},
                                               {">=", kComparison, Operation::GreaterEqual},
                                               {"|", 3, Operation::BitOr},
                                               {"^", 4, Operation::BitXor},
                                               {"&", 5, Operation::BitAnd},
                                               {"<<", 6, Operation::ShiftLeft},
                                               {">>", 6, Operation::ShiftRight},
                                               {"+", 7, Operation::Add},
                                               {"-", 7, Operation::Subtract},
                                               {"*", kHighest, Operation::Multiply},
                                               {"/", kHighest, Operation::Divide},
                                               {"%", kHighest, Operation::Remainder}}};

struct Function {
  std::string_view name;
  Operation operation;
  std::size_t least, most;  ///< arguments
};

constexpr std::array<Function, 10> kFunctions = {{{"if", Operation::If, 3, 3},
                                                  {"min", Operation::Minimum, 2, 2},
                                                  {"max", Operation::Maximum, 2, 2},
                                                  {"abs", Operation::Absolute, 1, 1},
                                                  {"floor", Operation::Floor, 1, 1},
                                                  {"sqrt", Operation::SquareRoot, 1, 1},
                                                  {"log2", Operation::Log2, 1, 1},
                                                  {"clamp", Operation::Clamp, 3, 3},
                                                  {"bits", Operation::Bits, 3, 3},
                                                  {"hash", Operation::Hash, 1, 4}}};

constexpr std::size_t kShownBefore = 60;
constexpr std::size_t kShownAfter = 40;

class Parser {
 public:
  Parser(std::string_view text, const std::string& owner) : owner_(owner) {
    result_.text = std::string(text);
    tokens_ = tokenize(result_.text, owner_);
  }

  Expression run() {
    binary(0);
    if (token().kind != TokenKind::End) {
      fail(token(), "unexpected text after the end of the formula", "an operator such as + or %, or the end",
           token().text == ")" ? "there is one ')' too many" : "");
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] const Token& token() const {
    return tokens_[at_];
  }
  bool accept(std::string_view sign) {
    if (token().kind == TokenKind::Sign && token().text == sign) {
      ++at_;
      return true;
    }
    return false;
  }

  std::uint32_t add(const Node& node) {
    result_.nodes.push_back(node);
    return static_cast<std::uint32_t>(result_.nodes.size() - 1);
  }

  [[nodiscard]] const Binary* binary_sign() const {
    if (token().kind != TokenKind::Sign) {
      return nullptr;
    }
    const auto* const found =
        std::find_if(kBinaries.begin(), kBinaries.end(), [&](const Binary& b) { return b.sign == token().text; });
    return found == kBinaries.end() ? nullptr : found;
  }

  /// Operators of `level` and above, from left to right.
  std::uint32_t binary(int level) {
    if (level > kHighest) {
      return unary();
    }
    std::uint32_t left = binary(level + 1);
    for (int count = 0;; ++count) {
      const Binary* const sign = binary_sign();
      if (sign == nullptr || sign->level != level) {
        return left;
      }
      if (level == kComparison && count > 0) {
        fail(token(), "comparisons do not chain", "one comparison, or several joined by &&", "write a < b && b < c");
      }
      const std::uint32_t column = token().column;
      ++at_;
      const std::uint32_t right = binary(level + 1);
      left = add({.operation = sign->operation, .operand_count = 2, .operands = {left, right, 0}, .column = column});
    }
  }

  /// Counts the recursion depth of the parser.
  class Deeper {
   public:
    explicit Deeper(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxNesting) {
        parser_.fail(parser_.token(), "the formula is nested too deeply",
                     fmt::format("at most {} levels of brackets, functions and signs", kMaxNesting), "");
      }
    }
    ~Deeper() {
      --parser_.depth_;
    }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    Parser& parser_;
  };

  std::uint32_t unary() {
    const Deeper deeper(*this);
    const Token start = token();
    if (accept("-") || accept("!")) {
      const std::uint32_t operand = unary();
      return add({.operation = start.text == "-" ? Operation::Negate : Operation::Not,
                  .operand_count = 1,
                  .operands = {operand, 0, 0},
                  .column = start.column});
    }
    if (accept("(")) {
      const std::uint32_t inner = binary(0);
      close(start);
      return inner;
    }
    if (start.kind == TokenKind::Number) {
      ++at_;
      return add({.operation = Operation::Number, .number = start.number, .column = start.column});
    }
    if (start.kind == TokenKind::Name) {
      ++at_;
      return accept("(") ? call(start) : field(start);
    }
    fail(start, start.kind == TokenKind::End ? "the formula ends too early" : "a value is missing here",
         "a number, a field, a function, '(' or '-'", "");
  }

  void close(const Token& open) {
    if (!accept(")")) {
      const bool ends = token().kind == TokenKind::End;
      fail(token(), ends ? "a bracket is not closed" : "the bracket should close or the formula go on here",
           "an operator or ')'", fmt::format("close the bracket of column {}", open.column + 1));
    }
  }

  std::uint32_t field(const Token& name) {
    for (std::size_t i = 0; i < kFieldCount; ++i) {
      if (name.text == kFields[i].name) {
        result_.fields.set(i);
        return add({.operation = Operation::Field, .field = static_cast<Field>(i), .column = name.column});
      }
    }
    const bool is_function = find_function(name.text) != nullptr;
    fail(name, is_function ? "a function without its arguments" : "unknown field",
         is_function ? fmt::format("'{}('", name.text) : known_names(), did_you_mean(name.text));
  }

  std::uint32_t call(const Token& name) {
    const Function* const function = find_function(name.text);
    if (function == nullptr) {
      unknown_function(name);
    }
    Node node{.operation = function->operation, .column = name.column};
    std::size_t count = 0;
    if (token().text != ")") {
      do {
        if (count == function->most) {
          fail(token(), "too many arguments", arguments_text(*function), "");
        }
        const std::uint32_t argument = binary(0);
        ++count;
        if (node.operation == Operation::Hash && node.operand_count == 1) {
          // hash(a, b, …): the hash so far becomes an operand.
          const std::uint32_t hashed = add(node);
          node = {.operation = Operation::HashMore, .operand_count = 1, .operands = {hashed}, .column = name.column};
        } else if (node.operation == Operation::HashMore && node.operand_count == 2) {
          const std::uint32_t hashed = add(node);
          node.operands = {hashed};
          node.operand_count = 1;
        }
        node.operands[node.operand_count++] = argument;
      } while (accept(","));
    }
    if (count < function->least) {
      fail(token(), "too few arguments", arguments_text(*function), "");
    }
    close(name);
    return add(node);
  }

  [[noreturn]] void unknown_function(const Token& name) const {
    std::string known;
    for (const Function& f : kFunctions) {
      known += (known.empty() ? "one of " : ", ") + std::string(f.name);
    }
    const bool is_field =
        std::any_of(kFields.begin(), kFields.end(), [&](const FieldInfo& info) { return info.name == name.text; });
    fail(name, is_field ? "a field is no function" : "unknown function", known,
         is_field ? "put an operator before the bracket" : did_you_mean(name.text));
  }

  static const Function* find_function(std::string_view name) {
    const auto* const found =
        std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == name; });
    return found == kFunctions.end() ? nullptr : found;
  }

  static std::string arguments_text(const Function& function) {
    return function.least == function.most
               ? fmt::format("{} for '{}'", counted(function.least, "argument"), function.name)
               : fmt::format("{} to {} arguments for '{}'", function.least, function.most, function.name);
  }

  static std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (const FieldInfo& info : kFields) {
      names.emplace_back(info.name);
    }
    for (const Function& function : kFunctions) {
      names.emplace_back(function.name);
    }
    return names;
  }
  static std::string known_names() {
    std::string known = "one of ";
    for (const FieldInfo& info : kFields) {
      known += (&info == kFields.data() ? "" : ", ") + std::string(info.name);
    }
    return known;
  }
  static std::string did_you_mean(std::string_view name) {
    const std::string near = nearest(name, all_names());
    return near.empty() || near == name ? "" : "did you mean '" + near + "'?";
  }

  [[noreturn]] void fail(const Token& at, const std::string& what, const std::string& expected,
                         const std::string& fix) const {
    throw Error(ErrorKind::Usage,
                {what, point_at(result_.text, at.column, owner_),
                 at.kind == TokenKind::End ? "the end" : fmt::format("'{}'", at.text), expected, fix});
  }

  const std::string& owner_;
  Expression result_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::uint32_t depth_ = 0;
};

}  // namespace

Expression parse_expression(std::string_view text, const std::string& owner) {
  if (text.size() > kMaxCharacters) {
    throw Error(ErrorKind::Usage, {"the formula is too long", owner, fmt::format("{} characters", text.size()),
                                   fmt::format("at most {}", kMaxCharacters), ""});
  }
  return Parser(text, owner).run();
}

std::string point_at(std::string_view text, std::size_t column, const std::string& owner) {
  std::size_t begin = column > kShownBefore ? column - kShownBefore : 0;
  std::size_t end = std::min(text.size(), column + kShownAfter);
  const auto continues = [&](std::size_t at) { return at < text.size() && (text[at] & '\xC0') == '\x80'; };
  while (begin > 0 && continues(begin)) {
    --begin;
  }
  while (continues(end)) {
    ++end;
  }
  std::string shown = begin > 0 ? "…" : "";
  std::size_t before = begin > 0 ? 1 : 0;  // characters before the mark
  for (std::size_t i = begin; i < end; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    shown += byte < ' ' || byte == 0x7F ? ' ' : text[i];
    before += i < column && !continues(i) ? 1U : 0U;
  }
  return fmt::format("{}, column {}:\n  {}{}\n  {:>{}}", owner, column + 1, shown, end < text.size() ? "…" : "", "^",
                     before + 1);
}

std::string name_of(const Node& node) {
  if (node.operation == Operation::Field) {
    return kFields[static_cast<std::size_t>(node.field)].name;
  }
  if (node.operation == Operation::Number) {
    return fmt::format("{}", node.number);
  }
  for (const Binary& binary : kBinaries) {
    if (binary.operation == node.operation) {
      return std::string(binary.sign);
    }
  }
  for (const Function& function : kFunctions) {
    if (function.operation == node.operation) {
      return std::string(function.name);
    }
  }
  return node.operation == Operation::Negate ? "-" : node.operation == Operation::Not ? "!" : "hash";
}

}  // namespace rayreplay::scheduler::formula
