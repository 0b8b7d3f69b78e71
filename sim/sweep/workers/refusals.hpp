// Contradictions in a sweep that are known before its work starts.
//
// Contract: `require_possible` checks configurations without computing a stage (Work::check). A configuration whose
// check throws is *refused*, any other is *accepted*. `require_possible` throws
//   - the first configuration's error if every configuration is refused;
//   - the first error of a value of an axis if every configuration with this value is refused with Usage. Exempt are
//     axes of models and of their parameters, because combinations of these that do not exist are rows
//     (docs/sweeps.md); axes of files, which may appear later; and axes of ranges.
// A configuration is checked only if one of its values has not occurred in an accepted one. So where nothing
// contradicts, there are at most as many checks as values. After kMostRefused refusals nothing is thrown: rows then
// have the errors.
#pragma once

#include <cstdint>

#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/workers/work.hpp"

namespace rayreplay::sweep {

inline constexpr std::uint64_t kMostRefused = 16384;

void require_possible(const Plan& plan, const Work& work);

}  // namespace rayreplay::sweep
