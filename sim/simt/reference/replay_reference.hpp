// The slow and obvious replayer: the twin for tests of the fast one (MODELS.md §4).
//
// Contract: the warp events of one warp in order, under any policy of sim/simt/replayer.hpp. Written from the
// definitions alone: a queue per lane and a map of the calls at their heads, rebuilt at every step. The policies fix
// the order of events except for `Independent`, whose groups run side by side: here the group with the lowest lane runs
// first, so compare that policy's events as a multiset. A lane waits in ray generation at a Begin or OcclusionBegin
// whose shader's stage is RayGeneration. Requires a checked trace and assignment; `warp` is a row-major index.
// Complexity: O(warp events · warp size · log warp size).
#pragma once

#include <cstddef>
#include <vector>

#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::simt {

[[nodiscard]] std::vector<WarpEvent> replay_warp_reference(const trace::Launch& launch,
                                                           const std::vector<trace::Shader>& shaders,
                                                           const scheduler::WarpAssignment& assignment,
                                                           std::size_t warp, Policy policy);

}  // namespace rayreplay::simt
