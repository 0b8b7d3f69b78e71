#include "capture/instrument/ser/hint_program.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace rayreplay::instrument {

namespace {

constexpr std::string_view kBlanks = " \t";

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

/// The whole of `text` as a number.
template <typename Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

/// The next term, which leaves `text`; empty at the end.
std::string_view next_term(std::string_view& text) {
  const std::size_t first = std::min(text.find_first_not_of(kBlanks), text.size());
  const std::size_t last = std::min(text.find_first_of(kBlanks, first), text.size());
  const std::string_view term = text.substr(first, last - first);
  text.remove_prefix(last);
  return term;
}

std::optional<HintTerm> term_of(std::string_view text) {
  HintTerm term;
  if (const auto field = hint_field(text)) {
    term.kind = HintTerm::Kind::Field;
    term.field = *field;
    return term;
  }
  const auto* operation = std::find_if(kHintOperations.begin(), kHintOperations.end(),
                                       [&](const HintOperation& known) { return text == known.name; });
  if (operation != kHintOperations.end()) {
    term.kind = HintTerm::Kind::Operation;
    term.operation = static_cast<std::uint8_t>(operation - kHintOperations.begin());
    return term;
  }
  const auto number = whole_number<double>(text);
  if (!number || !std::isfinite(*number)) {
    return std::nullopt;
  }
  term.number = *number;
  return term;
}

}  // namespace

bool HintProgram::uses(HintField field) const {
  return std::any_of(terms.begin(), terms.end(), [field](const HintTerm& term) {
    return term.kind == HintTerm::Kind::Field && term.field == field;
  });
}

std::optional<HintField> hint_field(std::string_view name) {
  const auto* const found =
      std::find_if(kHintFields.begin(), kHintFields.end(), [name](const char* known) { return name == known; });
  return found == kHintFields.end() ? std::nullopt : std::optional(static_cast<HintField>(found - kHintFields.begin()));
}

std::optional<HintProgram> parse_hint_program(std::string_view text, std::string& reason) {
  const auto fail = [&reason](std::string why) {
    reason = std::move(why);
    return std::nullopt;
  };
  const std::size_t colon = text.find(':');
  std::string_view width = text.substr(0, std::min(colon, text.size()));
  const auto bits = whole_number<std::uint32_t>(next_term(width));
  if (colon == std::string_view::npos || !bits || *bits == 0 || *bits > kMaxHintBits || !next_term(width).empty()) {
    return fail("a program begins with the hint's bits, 1 to 32, and a colon");
  }
  text.remove_prefix(colon + 1);
  HintProgram program;
  program.bits = *bits;
  std::size_t values = 0;
  for (std::string_view word = next_term(text); !word.empty(); word = next_term(text)) {
    const auto term = term_of(word);
    if (!term) {
      return fail(quoted(word) + " is no number, field or operation");
    }
    if (program.terms.size() == kMaxHintTerms) {
      return fail("more than " + std::to_string(kMaxHintTerms) + " terms");
    }
    if (term->kind == HintTerm::Kind::Operation) {
      const std::size_t takes = kHintOperations.at(term->operation).takes;
      if (values < takes) {
        return fail(quoted(word) + " needs " + std::to_string(takes) + " values before it and finds " +
                    std::to_string(values));
      }
      values -= takes;
    }
    if (++values > kMaxHintValues) {
      return fail("more than " + std::to_string(kMaxHintValues) + " values at once");
    }
    program.terms.push_back(*term);
  }
  if (values != 1) {
    return fail("the program leaves " + std::to_string(values) + " values, one is needed");
  }
  return program;
}

}  // namespace rayreplay::instrument
