// Random formulas for tests: every operator, function and field, brackets where they may be and where they need not.
#pragma once

#include <string>

#include "scheduler-models/regrouping/hints/fields.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {

inline std::string random_formula(Random& random, std::uint32_t depth) {
  using scheduler::formula::kFields;
  const auto part = [&] { return random_formula(random, depth - 1); };
  if (depth == 0 || random.one_in(5)) {
    constexpr const char* kNumbers[] = {"0", "1", "2", "3.75", "16", "0xFF", "1e9", "0.001", "52"};
    return random.one_in(2) ? kNumbers[random.below(std::size(kNumbers))] : kFields[random.below(kFields.size())].name;
  }
  constexpr const char* kSigns[] = {"+", "-", "*", "/",  "%",  "<<", ">>", "&",  "|",
                                    "^", "<", ">", "<=", ">=", "==", "!=", "&&", "||"};
  switch (random.below(14)) {
    case 0:
      return "if(" + part() + ", " + part() + ", " + part() + ")";
    case 1:
      return "min(" + part() + ", " + part() + ")";
    case 2:
      return "max(" + part() + "," + part() + ")";
    case 3:
      return "abs(" + part() + ")";
    case 4:
      return "floor(" + part() + ")";
    case 5:
      return random.one_in(2) ? "sqrt(" + part() + ")" : "log2(" + part() + ")";
    case 6:
      return "clamp(" + part() + ", 0, " + part() + ")";
    case 7:
      return "bits(" + part() + ", 7, " + part() + ")";
    case 8:
      return random.one_in(2) ? "hash(" + part() + ")" : "hash(" + part() + ", " + part() + ", " + part() + ")";
    case 9:
      return (random.one_in(2) ? "-" : "!") + part();
    default:
      return "(" + part() + " " + kSigns[random.below(std::size(kSigns))] + " " + part() + ")";
  }
}

}  // namespace rayreplay::test
