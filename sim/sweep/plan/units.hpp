// Groups the runs of a sweep into units, and orders the units. Internal to this folder.
//
// Contract: the costliest output of a run decides what the runs of its unit share:
//   cache       runs of one stream (the passes of one call answer all caches)
//   model       runs that differ only in the scheduler model
//   traversal   runs of one structure
//   simt        runs that differ only in the packing
//   structure   runs of one trace
// A run with several of these outputs is grouped by the first in this list. For groups other than "cache" and "model"
// the shared part is cheap compared with the runs. They are split until there are at least kEnoughUnits units, or one
// for each run. Units are sorted by input, structure, assignment and stream, each in the order of its first run.
// O(runs · (axes + log runs)).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/plan/run_table.hpp"

namespace rayreplay::sweep {

/// Four for each of 64 workers, so that none is idle for long at the end.
inline constexpr std::uint64_t kEnoughUnits = 256;

struct Units {
  std::vector<Unit> units;
  std::vector<std::uint64_t> stages;  ///< by stage: different results that are needed
};

/// Settings with `outputs` alone: by choice of its axis, or those of the base.
[[nodiscard]] std::vector<experiment::Settings> outputs_by_choice(const Definition& definition);

[[nodiscard]] Units make_units(const Definition& definition, const RunTable& table, std::uint64_t most_unit_runs);

}  // namespace rayreplay::sweep
