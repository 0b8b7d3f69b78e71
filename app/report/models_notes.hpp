// What stands below the table of models: break-even in words, and what limits the answers.
//
// Contract: plain text, models by their short names. Empty where there is nothing to say.
#pragma once

#include <string>

#include "sim/comparison/compare.hpp"

namespace rayreplay::report {

/// One line for each model but plain.
[[nodiscard]] std::string break_even_text(const experiment::CompareResult& result);

/// Whose answers are those of a launch of this size alone (experiment::too_few_warps): one sentence or two, no newline.
[[nodiscard]] std::string few_warps_note(const experiment::CompareResult& result);

}  // namespace rayreplay::report
