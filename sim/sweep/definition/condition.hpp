// Conditions on configurations: "cache.l1.bytes <= cache.l2.bytes && machine.sms % 2 == 0".
//
// Contract: operands are keys of an experiment, numbers ("64KiB" too), "texts", true and false. "KEY:PARAM" is a
// parameter of the spec that the key holds. A name with characters other than letters, digits, '_', '.' and ':' stands
// in `backquotes`. Operators by rising precedence: ||, &&, (== != < <= > >=), (+ -), (* / %), unary ! and -;
// parentheses. Numbers are doubles, texts compare as texts. Types are checked at parse time: unknown names and mixed
// comparisons are Usage errors with the text and the column. The type of "KEY:PARAM" is known only with a value, so
// `holds` throws for it.
//
// Values come from complete settings. A key with a spec has the model's name as its value. Evaluation is from left to
// right; && and || short-circuit. A division by 0, or a parameter that the spec does not have, makes the whole
// condition false. Limits: `kMaxCharacters`, and a nesting of 100 brackets and signs. Evaluation does not recurse.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameters.hpp"

namespace rayreplay::sweep {

class Condition {
 public:
  static constexpr std::size_t kMaxCharacters = 65536;

  using Lookup = std::function<const ParameterValue*(const std::string& key)>;  ///< null: no value
  struct Step;

  Condition() = default;
  /// `where`: file and line, for messages.
  Condition(std::string_view text, std::string where);

  [[nodiscard]] bool holds(const Lookup& lookup) const;
  [[nodiscard]] const std::string& text() const {
    return text_;
  }
  /// The names in the condition, each once.
  [[nodiscard]] const std::vector<std::string>& keys() const {
    return keys_;
  }

 private:
  std::string text_;
  std::string where_;
  std::vector<std::string> keys_;
  std::shared_ptr<const std::vector<Step>> steps_;
};

}  // namespace rayreplay::sweep
