// The answers that commands print above their tables, made from the rows of these tables.
//
// Contract: an answer is one or more lines "answer   …\n", or "" if the rows hold none (a launch without events). Names
// are safe to print (base/text.hpp). Scheduler models: models_notes.hpp.
#pragma once

#include <string>

#include "app/report/export/table.hpp"

namespace rayreplay::report {

[[nodiscard]] std::string answer_line(const std::string& sentence);  ///< `sentence` is safe to print

/// Of `whatif_table` with the bound: the packing with the highest SIMT efficiency.
[[nodiscard]] std::string packing_answer(const output::Table& packings);

/// Of `cache_rows`: a line for each level: what can avoid which share of the misses, the largest first.
[[nodiscard]] std::string cache_answer(const output::Table& levels);

/// Of `kind_table`: the share of necessary tests, and the most frequent cause of the others.
[[nodiscard]] std::string test_answer(const output::Table& kinds);

}  // namespace rayreplay::report
