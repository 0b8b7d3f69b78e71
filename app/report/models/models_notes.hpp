// Text above the table of models (answers) and below it (limitations).
//
// Contract: plain text, models by their short names. Empty if there is nothing to report.
#pragma once

#include <string>

#include "sim/comparison/compare.hpp"

namespace rayreplay::report {

/// A line for each model but plain (answers.hpp): the verdict and what it hangs on; without sensitivity the time
/// against plain's, and from which shader cost the model pays.
[[nodiscard]] std::string model_answer(const experiment::CompareResult& result);

/// Models whose answers depend on the launch's size (experiment::too_few_warps): one or two sentences, no newline.
[[nodiscard]] std::string few_warps_note(const experiment::CompareResult& result);

}  // namespace rayreplay::report
