// Hints of a whole launch from a formula.
//
// Contract: the formula's value for every segment that opens with a pending call, truncated toward zero; 0 for the
// others. Values must lie in [0, 2^bits). `hints_of` returns the lowest segment whose value does not; `refuse` throws
// its Input error: thread, ray, value and limit, or the operation that gives no number. O(segments · nodes), parallel;
// the same for any number of workers.
#pragma once

#include <cstdint>
#include <string>

#include "scheduler-models/regrouping/hints.hpp"
#include "scheduler-models/regrouping/hints/program.hpp"

namespace rayreplay::scheduler::formula {

struct FormulaHints {
  trace::Column<std::uint32_t> value;  ///< by segment; incomplete after a value that does not fit
  std::uint32_t first_bad = kNoSegment;
  std::uint32_t least = 0, most = 0;  ///< over the segments that open with a pending call; 0 without any
};

[[nodiscard]] FormulaHints hints_of(const FieldReader& fields, const Expression& expression, std::uint32_t bits);

[[noreturn]] void refuse(const FieldReader& fields, const Expression& expression, std::uint32_t bits,
                         std::uint32_t segment, const std::string& owner);

}  // namespace rayreplay::scheduler::formula
