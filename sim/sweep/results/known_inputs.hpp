// Whether rows come from the content that their files had when the sweep began.
//
// Contract: Input where a row was made from another content of its trace than table `inputs` has; files go by their
// names without folders, as shards and ranks may find them elsewhere. Nothing is known of a file that could not be read
// at the beginning. `fix`: what to do about it, for the message.
#pragma once

#include <string>
#include <vector>

#include "sim/sweep/results/database.hpp"
#include "sim/sweep/results/sqlite.hpp"

namespace rayreplay::sweep {

inline constexpr const char* kBringBack = "bring the file back as it was, or begin anew with --restart";

void require_known(const std::vector<InputFile>& inputs, const ResultRow& row, const std::string& fix);
/// Of the rows that are there.
void require_known_rows(const Connection& connection, const std::string& fix);

}  // namespace rayreplay::sweep
