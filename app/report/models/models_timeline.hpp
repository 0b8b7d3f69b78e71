// A scheduler model's run as a timeline for Perfetto: SMs and warps over time.
//
// Contract: each SM is a process, each of its warp slots a track; a slice is one warp of segments, named by the bounce
// at which it starts and how many lanes it has ("bounce 2: 27 lanes"), with its number, unit, round and moved threads.
// Counters: warps that run on each SM; threads of the launch that wait between two segments. Cycles become nanoseconds
// by the machine's clock. Needs a row with schedule, segments and placement. O(warps · log warps) time; memory 48 bytes
// a warp beside the row. Errors: Output.
#pragma once

#include <string>

#include "base/progress.hpp"
#include "sim/comparison/compare.hpp"

namespace rayreplay::report {

void write_timeline(const std::string& path, bool force, const experiment::CompareRow& row,
                    const machine::Machine& machine, Progress* progress);

}  // namespace rayreplay::report
