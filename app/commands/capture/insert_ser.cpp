#include "app/commands/capture/insert_ser.hpp"

#include <charconv>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "capture/instrument/ser/hint_program.hpp"
#include "scheduler-models/regrouping/hints/expression.hpp"

namespace rayreplay::app {
namespace {

namespace formula = scheduler::formula;

constexpr const char* kInsertSer = "--insert-ser";

/// Why a field of formulas is not there when a ray was just traced.
const char* absence_of(formula::Field field) {
  switch (field) {
    case formula::Field::Object:
      return "objects are numbered over all hits of a captured launch; hash(instance, primitive) tells them apart, too";
    case formula::Field::Shader:
      return "the reorder call sorts by the shader without a hint";
    case formula::Field::CapturedHint:
      return "captured hints are in traces alone";
    default:
      return "";
  }
}

const char* operation_of(formula::Operation operation) {
  using enum formula::Operation;
  switch (operation) {
    case Negate:
      return "neg";
    case Not:
      return "!";
    case Multiply:
      return "*";
    case Divide:
      return "/";
    case Remainder:
      return "%";
    case Add:
      return "+";
    case Subtract:
      return "-";
    case ShiftLeft:
      return "<<";
    case ShiftRight:
      return ">>";
    case BitAnd:
      return "&";
    case BitXor:
      return "^";
    case BitOr:
      return "|";
    case Less:
      return "<";
    case LessEqual:
      return "<=";
    case Greater:
      return ">";
    case GreaterEqual:
      return ">=";
    case Equal:
      return "==";
    case NotEqual:
      return "!=";
    case And:
      return "&&";
    case Or:
      return "||";
    case If:
      return "if";
    case Minimum:
      return "min";
    case Maximum:
      return "max";
    case Absolute:
      return "abs";
    case Floor:
      return "floor";
    case SquareRoot:
      return "sqrt";
    case Log2:
      return "log2";
    case Clamp:
      return "clamp";
    case Bits:
      return "bits";
    case Hash:
      return "hash";
    case HashMore:
      return "hash2";
    case Number:
    case Field:
      break;
  }
  throw Error(ErrorKind::Internal, {"an operation of a formula has no name in programs", "", "", "", ""});
}

std::string shortest(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

/// Appends the terms of a node, those of its operands first.
void append_terms(const formula::Expression& expression, std::uint32_t index, const std::string& owner,
                  std::string& out) {
  const formula::Node& node = expression.nodes[index];
  for (std::uint8_t i = 0; i < node.operand_count; ++i) {
    append_terms(expression, node.operands.at(i), owner, out);
  }
  out += ' ';
  if (node.operation == formula::Operation::Number) {
    out += shortest(node.number);
  } else if (node.operation == formula::Operation::Field) {
    const char* name = formula::kFields.at(static_cast<std::size_t>(node.field)).name;
    if (!instrument::hint_field(name)) {
      throw Error(
          ErrorKind::Usage,
          {"the field is not known where a ray is traced", formula::point_at(expression.text, node.column, owner), name,
           fmt::format("{}", fmt::join(instrument::kHintFields, ", ")), absence_of(node.field)});
    }
    out += name;
  } else {
    out += operation_of(node.operation);
  }
}

std::uint32_t bits_of(std::string_view text, std::string_view given) {
  std::uint32_t bits = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
    throw Error(ErrorKind::Usage,
                {"the hint is not of the form BITS=FORMULA", kInsertSer, fmt::format("'{}'", given),
                 "none, or a number of bits, '=', and a formula", "for example --insert-ser='4=material % 16'"});
  }
  if (bits < 1 || bits > instrument::kMaxHintBits) {
    throw Error(ErrorKind::Usage, {"the hint's number of bits is out of range", kInsertSer, fmt::format("'{}'", text),
                                   fmt::format("1 to {}", instrument::kMaxHintBits), ""});
  }
  return bits;
}

}  // namespace

std::string ser_setting(std::string_view given) {
  if (given == "off" || given == "none") {
    return std::string(given);
  }
  const std::size_t equals = given.find('=');
  std::string_view head = given.substr(0, equals);
  if (equals == std::string_view::npos) {
    head = {};
  } else if (const std::size_t colon = head.find(':'); colon != std::string_view::npos) {
    head.remove_prefix(colon + 1);  // a name, which nothing refers to here
  }
  const std::uint32_t bits = bits_of(head, given);
  const std::string owner = kInsertSer;
  const formula::Expression expression = formula::parse_expression(given.substr(equals + 1), owner);
  std::string program = fmt::format("{}:", bits);
  append_terms(expression, static_cast<std::uint32_t>(expression.nodes.size() - 1), owner, program);
  std::string reason;
  if (!instrument::parse_hint_program(program, reason)) {
    throw Error(ErrorKind::Usage, {"the formula is too long for a shader", kInsertSer, fmt::format("'{}'", given),
                                   reason, "write a shorter one"});
  }
  return program;
}

}  // namespace rayreplay::app
