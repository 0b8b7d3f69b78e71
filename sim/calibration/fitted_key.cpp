#include "sim/calibration/fitted_key.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "sim/settings/machine_settings.hpp"
#include "sim/settings/parameter_table.hpp"

namespace rayreplay::calibration {
namespace {

constexpr std::string_view kPrefix = "machine.";
constexpr std::string_view kDots = "..";

bool is_number(const ParameterValue& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

double as_double(const ParameterValue& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
}

const Parameter& find_key(const std::string& name, const std::string& where) {
  static const std::vector<experiment::ExperimentParameter> kKnown = experiment::machine_parameters();
  const std::string key = name.starts_with(kPrefix) ? name : std::string(kPrefix) + name;
  std::vector<std::string> numbers;
  for (const experiment::ExperimentParameter& one : kKnown) {
    if (is_number(one.declared.default_value)) {
      if (one.declared.name == key) {
        return one.declared;
      }
      numbers.push_back(one.declared.name);
    }
  }
  const bool known = key == experiment::kMachineName ||
                     std::ranges::any_of(kKnown, [&key](const auto& one) { return one.declared.name == key; });
  const std::string near = nearest(key, numbers);
  throw Error(ErrorKind::Usage, {known ? "the key is no number" : "unknown key of a machine", where, "'" + name + "'",
                                 fmt::format("one of {}", fmt::join(numbers, ", ")),
                                 known || near.empty() ? "" : "did you mean '" + near + "'?"});
}

double bound_of(std::string_view text, const Parameter& declared, bool whole, const std::string& where) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool read = error == std::errc() && stop == text.data() + text.size();
  if (!read || !(value >= declared.minimum && value <= declared.maximum) || (whole && value != std::round(value))) {
    usage("a bound cannot be a value of the key", where + " " + declared.name, fmt::format("'{}'", text),
          fmt::format("{}, {} to {}", whole ? "a whole number" : "a number", declared.minimum, declared.maximum));
  }
  return value;
}

void read_bounds(FittedKey& key, std::string_view text, const Parameter& declared, const std::string& where) {
  const auto dots = text.find(kDots);
  if (dots == std::string_view::npos) {
    usage("bounds are not of the form LOW..HIGH", where + " " + key.key, fmt::format("'{}'", text), "such as 0.5..4");
  }
  key.low = bound_of(text.substr(0, dots), declared, key.whole, where);
  key.high = bound_of(text.substr(dots + kDots.size()), declared, key.whole, where);
  if (!(key.low < key.high)) {
    usage("the lower bound is not below the upper one", where + " " + key.key, fmt::format("'{}'", text),
          "LOW..HIGH with LOW below HIGH");
  }
}

void usual_bounds(FittedKey& key, const Parameter& declared) {
  constexpr double kFactor = 2;
  key.from = key.value == 0 ? BoundsFrom::Range : BoundsFrom::Factor;
  key.low = declared.minimum;
  key.high = declared.maximum;
  if (key.value != 0) {
    const double low = key.value / kFactor;
    key.low = std::max(key.low, key.whole ? std::floor(low) : low);
    key.high = std::min(key.high, key.value * kFactor);
  }
}

}  // namespace

const char* to_string(BoundsFrom from) {
  constexpr std::array kTexts = {"given", "half to twice the machine's value", "range of the key"};
  return kTexts.at(static_cast<std::size_t>(from));
}

ParameterValue FittedKey::in_type(double number) const {
  return whole ? ParameterValue(static_cast<std::int64_t>(std::llround(number))) : ParameterValue(number);
}

FittedKey parse_fitted_key(const std::string& text, const experiment::Settings& complete, const std::string& where) {
  const auto equals = text.find('=');
  const Parameter& declared = find_key(text.substr(0, equals), where);
  FittedKey key;
  key.key = declared.name;
  key.unit = declared.unit;
  key.whole = std::holds_alternative<std::int64_t>(declared.default_value);
  key.value = as_double(complete.at(declared.name));
  if (equals == std::string::npos) {
    usual_bounds(key, declared);
  } else {
    read_bounds(key, std::string_view(text).substr(equals + 1), declared, where);
  }
  return key;
}

std::vector<FittedKey> parse_fitted_keys(const std::vector<std::string>& texts, const experiment::Settings& complete,
                                         const std::string& where) {
  if (texts.empty() || texts.size() > kMaxFittedKeys) {
    usage(texts.empty() ? "no key is to be fitted" : "too many keys are to be fitted", where,
          fmt::format("{}", texts.size()), fmt::format("1 to {} keys", kMaxFittedKeys),
          texts.empty() ? "--fit KEY, such as --fit machine.rt_steps_per_cycle" : "fit the most uncertain ones");
  }
  std::vector<FittedKey> keys;
  for (const std::string& text : texts) {
    FittedKey key = parse_fitted_key(text, complete, where);
    if (std::ranges::find(keys, key.key, &FittedKey::key) != keys.end()) {
      usage("a key is to be fitted twice", where, "'" + key.key + "'", "each key once");
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace rayreplay::calibration
