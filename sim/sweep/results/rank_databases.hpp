// The databases of a sweep's ranks, which stand beside the sweep's own until they are joined.
//
// Contract: rank 3 of the sweep with s.db writes s.db.rank3. `join_rank_databases` takes the rows of all that are there
// and removes them; after a kill it can be called again: nothing is lost, and nothing comes twice. `drop`: they are
// removed without being read (--restart). It returns how many there were. Errors: those of ResultsWriter; Output where
// a process still writes one.
#pragma once

#include <cstdint>
#include <filesystem>

#include "sim/sweep/results/database.hpp"

namespace rayreplay::sweep {

[[nodiscard]] std::filesystem::path rank_database(const std::filesystem::path& database, int rank);
std::uint64_t join_rank_databases(ResultsWriter& results, const std::filesystem::path& database, const About& about,
                                  bool drop);

}  // namespace rayreplay::sweep
