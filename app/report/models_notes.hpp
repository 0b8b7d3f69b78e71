// Text below the table of models: break-even in words, and limits of the answers.
//
// Contract: plain text, models by their short names. Empty if there is nothing to report.
#pragma once

#include <string>

#include "sim/comparison/compare.hpp"

namespace rayreplay::report {

/// One line for each model but plain.
[[nodiscard]] std::string break_even_text(const experiment::CompareResult& result);

/// Models whose answers depend on the launch's size (experiment::too_few_warps): one or two sentences, no newline.
[[nodiscard]] std::string few_warps_note(const experiment::CompareResult& result);

}  // namespace rayreplay::report
