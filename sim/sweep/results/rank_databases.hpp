// The databases of a sweep's MPI ranks, which exist beside the sweep's own until the merge.
//
// Contract: rank 3 of the sweep with s.db writes s.db.rank3. `join_rank_databases` merges the rows of all rank
// databases, removes the files, and returns their number. After a kill it can be called again: no row is lost or
// duplicated. `drop` (--restart) removes the files without reading them. Errors: those of ResultsWriter; Output if a
// process still writes one.
#pragma once

#include <cstdint>
#include <filesystem>

#include "sim/sweep/results/database.hpp"

namespace rayreplay::sweep {

[[nodiscard]] std::filesystem::path rank_database(const std::filesystem::path& database, int rank);
std::uint64_t join_rank_databases(ResultsWriter& results, const std::filesystem::path& database, const About& about,
                                  bool drop);

}  // namespace rayreplay::sweep
