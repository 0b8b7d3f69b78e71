// The table of `rayreplay advise`.
//
// Contract: rows in the order of the ranking, the best first; then "shader id alone" and "plain" for comparison. Keys
// of JSON and CSV are listed in docs/surfaces.md.
#pragma once

#include <string>

#include "app/report/export/table.hpp"
#include "sim/comparison/advise.hpp"

namespace rayreplay::report {

/// At most `rows` of the ranking; 0: all.
[[nodiscard]] output::Table advise_table(const experiment::AdviseResult& result, std::size_t rows);

/// Text below the table: the number of candidates, and the limits of the figures.
[[nodiscard]] std::string advise_notes(const experiment::AdviseResult& result);

}  // namespace rayreplay::report
