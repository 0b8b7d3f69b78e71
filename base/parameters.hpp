// Parameters of a model: declared once beside the model, used for parsing, checking, help and documentation.
//
// Contract: a model declares its parameters (name, unit, default, range or choices, one line of text). A *spec* is what
// a user writes to pick a model: "name" or "name:key=value,key=value". Resolving a spec checks every key against the
// declaration (unknown keys are errors that name the nearest known one), every value against type and range, and fills
// in the defaults, so that a model only ever sees complete, valid values. Errors: rayreplay::Error, kind Usage.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rayreplay {

inline constexpr double kMaxExact = 0x1p53;  ///< doubles hold all whole numbers up to here

using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

struct Parameter {
  std::string name;
  ParameterValue default_value;                               ///< also fixes the type
  std::string unit;                                           ///< "threads", "bits", "" for none
  std::string text;                                           ///< one sentence
  double minimum = -std::numeric_limits<double>::infinity();  ///< inclusive; numbers only
  double maximum = std::numeric_limits<double>::infinity();   ///< inclusive; numbers only
  std::vector<std::string> choices;                           ///< strings only; empty: any
};

/// Complete, checked values of one model instance, in the order of declaration.
class Parameters {
 public:
  Parameters() = default;
  explicit Parameters(std::vector<std::pair<std::string, ParameterValue>> values);

  [[nodiscard]] bool get_bool(std::string_view name) const;
  [[nodiscard]] std::int64_t get_int(std::string_view name) const;
  [[nodiscard]] double get_double(std::string_view name) const;
  [[nodiscard]] const std::string& get_string(std::string_view name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, ParameterValue>>& all() const {
    return values_;
  }

 private:
  [[nodiscard]] const ParameterValue& at(std::string_view name) const;
  std::vector<std::pair<std::string, ParameterValue>> values_;
};

struct ModelSpec {
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings;
};

/// Splits "name:key=value,key=value". Throws Usage when a setting has no '=' or a key is empty or repeated.
[[nodiscard]] ModelSpec parse_spec(std::string_view text);

/// Checks and completes the settings of one model. `owner` names it in messages ("packing 'random'").
[[nodiscard]] Parameters resolve(const std::vector<Parameter>& declared,
                                 const std::vector<std::pair<std::string, std::string>>& settings,
                                 std::string_view owner);

/// "name:key=value,…" with every parameter written out: the resolved configuration of a result.
[[nodiscard]] std::string to_spec(std::string_view name, const Parameters& parameters);

[[nodiscard]] std::string to_text(const ParameterValue& value);

/// The candidate with the smallest edit distance to `word`, or "" when none is near enough to be meant.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace rayreplay
