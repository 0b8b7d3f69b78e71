// Conditions on configurations: "cache.l1.bytes <= cache.l2.bytes && machine.sms % 2 == 0".
//
// Contract: names are keys of an experiment (with ":PARAM" where the key holds a model's spec; in `backquotes` where a
// name has other characters than letters, digits, '_', '.', ':'), numbers ("64KiB" as well), "texts", true, false;
// operators by rising precedence: || && (== != < <= > >=) (+ -) (* / %) and unary ! -; parentheses. Numbers are
// doubles, texts compare as texts. Types are checked when the text is read; unknown names and mixed comparisons are
// Usage errors that show the text and give the column. Only the type of a "KEY:PARAM" is not known before there is a
// value: for these `holds` throws.
//   Values come from complete settings; a key that holds a spec stands for the model's name. Evaluated from left to
// right, && and || no further than needed; a division by 0, and a parameter that the spec does not have, make the whole
// condition false. At most `kMostCharacters` long and 100 brackets and signs deep; evaluation does not recurse.
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
  static constexpr std::size_t kMostCharacters = 65536;

  using Lookup = std::function<const ParameterValue*(const std::string& key)>;  ///< null: there is none

  Condition() = default;
  /// `where` for messages: file and line.
  Condition(std::string_view text, std::string where);

  [[nodiscard]] bool holds(const Lookup& value) const;
  [[nodiscard]] const std::string& text() const {
    return text_;
  }
  /// Names that it reads, each once.
  [[nodiscard]] const std::vector<std::string>& keys() const {
    return keys_;
  }

 private:
  friend class ConditionParser;
  friend class ConditionRun;
  struct Step;
  std::string text_;
  std::string where_;
  std::vector<std::string> keys_;
  std::shared_ptr<const std::vector<Step>> steps_;
};

}  // namespace rayreplay::sweep
