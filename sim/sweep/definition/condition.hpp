// Conditions on configurations: "cache.l1.bytes <= cache.l2.bytes && machine.sms % 2 == 0".
//
// Contract: names are keys of an experiment (with ":PARAM" where the key holds a spec), numbers, "texts", true, false;
// operators by rising precedence: || && (== != < <= > >=) (+ -) (* / %) and unary ! -; parentheses. Numbers are
// doubles, texts compare as texts, mixed comparison and unknown names are Usage errors that show the text and point at
// the column. Values come from complete settings (a "KEY:PARAM" from the completed spec). A division by 0, and a
// parameter that the spec does not have, make the condition false.
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
  using Lookup = std::function<const ParameterValue*(const std::string& key)>;  ///< null: there is none

  Condition() = default;
  /// `where` for messages: file and line.
  Condition(std::string_view text, const std::string& where);

  [[nodiscard]] bool holds(const Lookup& value) const;
  [[nodiscard]] const std::string& text() const {
    return text_;
  }
  /// Names that it reads, each once.
  [[nodiscard]] const std::vector<std::string>& keys() const {
    return keys_;
  }

 private:
  struct Node;
  std::string text_;
  std::vector<std::string> keys_;
  std::shared_ptr<const Node> root_;
};

}  // namespace rayreplay::sweep
