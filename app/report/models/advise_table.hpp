// The table of `rayreplay advise`, and its answer.
//
// Contract: rows in the order of the ranking, the best first; then "shader id alone" and "plain" for comparison. Cells
// about transactions are empty where accesses of shaders do not count. Keys of JSON and CSV are listed in
// docs/surfaces.md. The answer names the best hint and the part of the score that it rests on (AdviseResult::rests_on),
// or says that nothing helps, because no hint gains experiment::kLeastGain.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "sim/comparison/advise.hpp"

namespace rayreplay::report {

/// At most `rows` of the ranking; 0: all.
[[nodiscard]] output::Table advise_table(const experiment::AdviseResult& result, std::size_t rows);

/// The line above the table (app/report/context/answers.hpp).
[[nodiscard]] std::string advise_answer(const experiment::AdviseResult& result);
/// The answer for JSON: `helps`, `formula`, `name`, `bits`, `gain`, `rests_on`, `least_gain`.
[[nodiscard]] nlohmann::ordered_json advise_verdict(const experiment::AdviseResult& result);

/// The costs of an issue slot and of a transaction, with their origins; "" and null without addresses.
[[nodiscard]] std::string score_text(const experiment::AdviseResult& result);
[[nodiscard]] nlohmann::ordered_json score_json(const experiment::AdviseResult& result);

/// Text below the table: the number of candidates, and the limits of the figures.
[[nodiscard]] std::string advise_notes(const experiment::AdviseResult& result);

}  // namespace rayreplay::report
