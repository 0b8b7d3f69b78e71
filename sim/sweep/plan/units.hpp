// How the runs of a sweep are put together into units, and in which order. Internal to this room.
//
// Contract: what a run's unit shares is decided by the costliest of its outputs:
//   cache       runs of one stream (every cache of it is answered by the passes of one call)
//   model       runs that differ in the scheduler model alone
//   traversal   runs of one structure
//   simt        runs that differ in the packing alone
//   structure   runs of one trace
// A run that wants several is grouped by the first of these. Where that is not "cache" or "model", what is shared is
// cheap beside the runs themselves: groups are then cut so that there are at least kEnoughUnits units where there are
// as many runs. Units of single runs beyond kManyUnits are joined with their neighbours. Units are sorted by input,
// structure, assignment and stream, each in the order of its first run. O(runs · (axes + log runs)).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/plan/run_table.hpp"

namespace rayreplay::sweep {

/// Four for each of 64 workers, so that none is idle for long at the end.
inline constexpr std::uint64_t kEnoughUnits = 256;
inline constexpr std::uint64_t kManyUnits = 10'000;

struct Units {
  std::vector<Unit> units;
  std::vector<std::uint64_t> stages;  ///< by stage: different results that are needed
};

[[nodiscard]] Units make_units(const Definition& definition, const RunTable& table, std::uint64_t most_unit_runs);

}  // namespace rayreplay::sweep
