// What stands above the table of models, the answers, and below it: what limits them.
//
// Contract: plain text, models by their short names. Empty where there is nothing to say.
#pragma once

#include <string>

#include "sim/experiment/compare.hpp"

namespace rayreplay::report {

/// A line for each model but plain (answers.hpp): its time against plain's, and from which shader cost it pays.
[[nodiscard]] std::string model_answer(const experiment::CompareResult& result);

/// Whose answers are those of a launch of this size alone (experiment::too_few_warps): one sentence or two, no newline.
[[nodiscard]] std::string few_warps_note(const experiment::CompareResult& result);

}  // namespace rayreplay::report
