// The answer of a calibration, above its tables.
//
// Contract: lines "answer   …\n", safe to print: the fitted values, the error before and after, and the worst row;
// then, where there are any, rows held out, rows that the model does not explain (off by more than kUnexplained after
// the fit), keys on a bound, keys that the rows do not determine or that change nothing, and a search that was cut
// short.
#pragma once

#include <string>

#include "app/report/calibration/calibration_report.hpp"

namespace rayreplay::report {

inline constexpr double kUnexplained = 0.1;

[[nodiscard]] std::string calibration_answer(const CalibrationContext& context);

}  // namespace rayreplay::report
