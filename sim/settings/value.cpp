#include "sim/settings/value.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/list_items.hpp"
#include "sim/machine/costs.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {
namespace {

std::string type_text(const Parameter& declared) {
  std::string type = std::holds_alternative<bool>(declared.default_value)           ? "true or false"
                     : std::holds_alternative<std::int64_t>(declared.default_value) ? "a whole number"
                     : std::holds_alternative<double>(declared.default_value)       ? "a number"
                                                                                    : "a text";
  if (std::isfinite(declared.minimum) && std::isfinite(declared.maximum)) {
    type += fmt::format(", {} to {}", declared.minimum, declared.maximum);
  }
  return type;
}

/// -0 becomes 0, so that equal values have equal texts and hashes.
ParameterValue without_sign_of_zero(const ParameterValue& value) {
  const auto* number = std::get_if<double>(&value);
  return number == nullptr ? value : *number + 0.0;
}

/// Reads a text as the declared type, by the rules of specs.
ParameterValue read_text(const Parameter& declared, const std::string& text, const std::string& place) {
  try {
    const std::string plain = declared.unit == "bytes" ? without_unit(text) : text;
    return without_sign_of_zero(
        rayreplay::resolve({declared}, {{declared.name, plain}}, declared.name).all().front().second);
  } catch (const Error& error) {
    ErrorInfo info = error.info();
    info.where = place;
    info.found = "'" + text + "'";
    if (declared.unit == "bytes" && info.fix.empty()) {
      info.fix = "write bytes as a number, or with a unit: 64KiB, 4MiB, 2GiB";
    }
    throw Error(error.kind(), info);
  }
}

void require_range(const Parameter& declared, double value, const std::string& text, const std::string& place) {
  if (!(value >= declared.minimum && value <= declared.maximum)) {
    usage("the value is out of range", place, text, type_text(declared));
  }
}

/// "ISSUE", "FACTORx", each also with ":LATENCY" behind it, or ":LATENCY".
std::string checked_shader_cost(const ParameterValue& value, const std::string& place) {
  std::string text = to_text(value);
  Parameter number;
  number.name = "shader_costs";
  number.default_value = 0.0;
  number.minimum = 0;
  number.maximum = machine::kMaxIssue;
  const auto colon = text.find(':');
  if (colon != 0) {
    std::string amount = text.substr(0, colon);
    if (amount.size() > 1 && amount.back() == 'x') {
      amount.pop_back();
      number.maximum = machine::kMaxTimes;
    }
    static_cast<void>(read_text(number, amount, place));
  }
  if (colon != std::string::npos) {
    number.maximum = machine::kMaxLatency;
    static_cast<void>(read_text(number, text.substr(colon + 1), place));
  }
  return text;
}

/// Drops repetitions and sorts the words in the order of the stages.
std::string checked_outputs(const std::string& text, const std::string& place) {
  static const std::vector<std::string> kKnown = [] {
    std::vector<std::string> names;
    for (const Stage stage : output_stages()) {
      names.emplace_back(to_string(stage));
    }
    return names;
  }();
  std::vector<std::string> given;
  for (const std::string& item : list_items(text, ',')) {
    const std::string word = trimmed(item);
    if (std::ranges::find(kKnown, word) == kKnown.end()) {
      const std::string near = nearest(word, kKnown);
      usage("unknown output", place, fmt::format("'{}'", word), fmt::format("one of {}", fmt::join(kKnown, ", ")),
            near.empty() ? "" : "did you mean '" + near + "'?");
    }
    given.push_back(word);
  }
  std::string result;
  for (const std::string& word : kKnown) {
    if (std::ranges::find(given, word) != given.end()) {
      result += (result.empty() ? "" : ",") + word;
    }
  }
  return result;
}

}  // namespace

std::string without_unit(const std::string& text) {
  struct Unit {
    std::string_view word;
    std::uint64_t bytes;
  };
  static constexpr std::array kUnits = {Unit{"KiB", std::uint64_t{1} << 10U}, Unit{"MiB", std::uint64_t{1} << 20U},
                                        Unit{"GiB", std::uint64_t{1} << 30U}, Unit{"TiB", std::uint64_t{1} << 40U}};
  constexpr std::size_t kMaxDigits = 6;  // with a unit: never beyond 64 bits
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.word)) {
      continue;
    }
    const std::string digits = text.substr(0, text.size() - unit.word.size());
    if (!digits.empty() && digits.size() <= kMaxDigits &&
        std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) {
      return fmt::format("{}", std::stoull(digits) * unit.bytes);
    }
  }
  return text;
}

std::string place_of(const std::string& where, std::string_view key) {
  const ExperimentParameter* parameter = where.starts_with("--") ? find_parameter(key) : nullptr;
  if (parameter != nullptr && parameter->flag == where) {
    return where;
  }
  return where.empty() ? std::string(key) : fmt::format("{}, {}", where, key);
}

ParameterValue checked_value(const ExperimentParameter& parameter, std::string_view key, const ParameterValue& value,
                             const std::string& where) {
  const Parameter& declared = parameter.declared;
  const std::string place = place_of(where, key);
  const ParameterValue& wanted = declared.default_value;
  if (parameter.is_open && std::holds_alternative<std::string>(wanted)) {
    return checked_shader_cost(value, place);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (declared.name == "outputs") {
      return checked_outputs(*text, place);
    }
    return std::holds_alternative<std::string>(wanted) && declared.choices.empty() ? value
                                                                                   : read_text(declared, *text, place);
  }
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    if (std::holds_alternative<std::int64_t>(wanted) || std::holds_alternative<double>(wanted)) {
      require_range(declared, static_cast<double>(*number), to_text(value), place);
      return std::holds_alternative<double>(wanted) ? ParameterValue(static_cast<double>(*number)) : value;
    }
  }
  if (const auto* number = std::get_if<double>(&value)) {
    if (std::holds_alternative<double>(wanted)) {
      require_range(declared, *number, to_text(value), place);
      return without_sign_of_zero(value);
    }
    if (std::holds_alternative<std::int64_t>(wanted) && std::abs(*number) < kMaxExact &&
        *number == std::floor(*number)) {
      require_range(declared, *number, to_text(value), place);
      return static_cast<std::int64_t>(*number);
    }
  }
  if (std::holds_alternative<bool>(value) && std::holds_alternative<bool>(wanted)) {
    return value;
  }
  usage("the value has the wrong type", place, to_text(value), type_text(declared));
}

}  // namespace rayreplay::experiment
