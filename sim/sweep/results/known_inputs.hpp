// Checks that rows come from unchanged input files.
//
// Contract: Input if a row was made from a trace whose content differs from table `inputs`. Files are matched by name
// without folder, because shards and ranks may have them elsewhere. A file that was unreadable at the beginning is not
// checked. `fix`: the remedy, for the message.
#pragma once

#include <string>
#include <vector>

#include "sim/sweep/results/result_row.hpp"
#include "sim/sweep/results/sqlite.hpp"

namespace rayreplay::sweep {

inline constexpr const char* kBringBack = "bring the file back as it was, or begin anew with --restart";

void require_known(const std::vector<InputFile>& inputs, const ResultRow& row, const std::string& fix);
/// Checks the rows that are already in the database.
void require_known_rows(const Connection& connection, const std::string& fix);

}  // namespace rayreplay::sweep
