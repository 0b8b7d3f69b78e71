// Contradictions in a sweep that are known before its work starts.
//
// Contract: `require_possible` asks about configurations without computing a stage (Work::check). It throws
//   - the first configuration's error if every configuration is refused;
//   - the first error of a value of an axis if it is Usage in every configuration with this value. Axes of models and
//     of their parameters are exempt, because combinations of these that do not exist are rows (docs/sweeps.md), and so
//     are axes of files, which may appear later.
// A configuration is asked about only if it has a value that none has been accepted with: as many as there are values,
// where nothing contradicts. After kMostRefused refusals nothing is thrown: rows then have the errors.
#pragma once

#include <cstdint>

#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/workers/work.hpp"

namespace rayreplay::sweep {

inline constexpr std::uint64_t kMostRefused = 16384;

void require_possible(const Plan& plan, const Work& work);

}  // namespace rayreplay::sweep
