#include "base/parameters.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay {
namespace {

std::string range_text(const Parameter& parameter) {
  const bool low = std::isfinite(parameter.minimum);
  const bool high = std::isfinite(parameter.maximum);
  if (low && high) {
    return fmt::format("{} to {}", parameter.minimum, parameter.maximum);
  }
  if (low) {
    return fmt::format("at least {}", parameter.minimum);
  }
  return high ? fmt::format("at most {}", parameter.maximum) : std::string("a number");
}

template <class Number>
Number parse_number(const Parameter& parameter, const std::string& text, const std::string& where, const char* type) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.empty()) {
    usage("the value is not " + std::string(type), where, "'" + text + "'", range_text(parameter));
  }
  const auto as_double = static_cast<double>(value);
  if (!(as_double >= parameter.minimum && as_double <= parameter.maximum)) {
    usage("the value is out of range", where, text, range_text(parameter));
  }
  return value;
}

ParameterValue parse_value(const Parameter& parameter, const std::string& text, const std::string& where) {
  if (std::holds_alternative<bool>(parameter.default_value)) {
    if (text != "true" && text != "false") {
      usage("the value is not a truth value", where, "'" + text + "'", "true or false");
    }
    return text == "true";
  }
  if (std::holds_alternative<std::int64_t>(parameter.default_value)) {
    return parse_number<std::int64_t>(parameter, text, where, "a whole number");
  }
  if (std::holds_alternative<double>(parameter.default_value)) {
    return parse_number<double>(parameter, text, where, "a number");
  }
  if (!parameter.choices.empty() &&
      std::find(parameter.choices.begin(), parameter.choices.end(), text) == parameter.choices.end()) {
    const std::string near = nearest(text, parameter.choices);
    usage("the value is not one of the choices", where, "'" + text + "'",
          fmt::format("one of {}", fmt::join(parameter.choices, ", ")),
          near.empty() ? "" : "did you mean '" + near + "'?");
  }
  return text;
}

}  // namespace

Parameters::Parameters(std::vector<std::pair<std::string, ParameterValue>> values) : values_(std::move(values)) {}

const ParameterValue& Parameters::at(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) {
      return value;
    }
  }
  throw Error(ErrorKind::Internal,
              {"a model asked for a parameter that it does not declare", "", std::string(name), "", ""});
}

bool Parameters::get_bool(std::string_view name) const {
  return std::get<bool>(at(name));
}
std::int64_t Parameters::get_int(std::string_view name) const {
  return std::get<std::int64_t>(at(name));
}
double Parameters::get_double(std::string_view name) const {
  return std::get<double>(at(name));
}
const std::string& Parameters::get_string(std::string_view name) const {
  return std::get<std::string>(at(name));
}

ModelSpec parse_spec(std::string_view text) {
  ModelSpec spec;
  const auto colon = text.find(':');
  spec.name = std::string(text.substr(0, colon));
  if (spec.name.empty()) {
    usage("a model name is missing", "", "'" + std::string(text) + "'", "NAME or NAME:key=value,key=value");
  }
  if (colon == std::string_view::npos) {
    return spec;
  }
  std::string_view rest = text.substr(colon + 1);
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      usage("a setting is not of the form key=value", spec.name, "'" + std::string(item) + "'", "key=value");
    }
    std::string key(item.substr(0, equals));
    for (const auto& [known, value] : spec.settings) {
      if (known == key) {
        usage("a setting is given twice", spec.name, key, "each key once");
      }
    }
    spec.settings.emplace_back(std::move(key), std::string(item.substr(equals + 1)));
  }
  return spec;
}

Parameters resolve(const std::vector<Parameter>& declared,
                   const std::vector<std::pair<std::string, std::string>>& settings, std::string_view owner) {
  std::vector<std::string> names;
  names.reserve(declared.size());
  for (const auto& parameter : declared) {
    names.push_back(parameter.name);
  }
  for (const auto& [key, value] : settings) {
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      const std::string near = nearest(key, names);
      usage("unknown parameter", std::string(owner), "'" + key + "'",
            names.empty() ? "no parameters" : fmt::format("one of {}", fmt::join(names, ", ")),
            near.empty() ? "" : "did you mean '" + near + "'?");
    }
  }
  std::vector<std::pair<std::string, ParameterValue>> values;
  values.reserve(declared.size());
  for (const auto& parameter : declared) {
    const auto given = std::find_if(settings.begin(), settings.end(),
                                    [&](const auto& setting) { return setting.first == parameter.name; });
    values.emplace_back(parameter.name,
                        given == settings.end()
                            ? parameter.default_value
                            : parse_value(parameter, given->second, fmt::format("{}, {}", owner, parameter.name)));
  }
  return Parameters(std::move(values));
}

std::string to_text(const ParameterValue& value) {
  if (const bool* truth = std::get_if<bool>(&value)) {
    return *truth ? "true" : "false";
  }
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return fmt::format("{}", *number);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return fmt::format("{}", *number);
  }
  return std::get<std::string>(value);
}

std::string to_spec(std::string_view name, const Parameters& parameters) {
  std::string text(name);
  char separator = ':';
  for (const auto& [key, value] : parameters.all()) {
    text += fmt::format("{}{}={}", separator, key, to_text(value));
    separator = ',';
  }
  return text;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    // Levenshtein distance with one row; names are short.
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) {
      row[j] = j;
    }
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j < row.size(); ++j) {
        const std::size_t above = row[j];
        row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (word[i - 1] == candidate[j - 1] ? 0U : 1U)});
        diagonal = above;
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  if (best.empty() && !word.empty()) {
    const auto names_a_part = [&](const std::string& candidate) {
      return fmt::format("-{}-", candidate).find(fmt::format("-{}-", word)) != std::string::npos;
    };
    const auto part_of = std::find_if(candidates.begin(), candidates.end(), names_a_part);
    return part_of == candidates.end() ? std::string() : *part_of;
  }
  return best;
}

}  // namespace rayreplay
