// A regrouped schedule as a file, for cache models and other tools: warps of segments with place and time.
//
// Contract: the format of docs/schedule-files.md; sim/launch/schedule_file.hpp reads it. Written in pieces; memory 5
// bytes a segment. The file is complete or absent. Requires a row with schedule, segments and placement. Errors:
// Output.
#pragma once

#include <string>

#include "base/progress.hpp"
#include "capture/trace/trace.hpp"
#include "sim/comparison/compare.hpp"

namespace rayreplay::report {

void write_schedule(const std::string& path, bool force, const experiment::CompareRow& row, const trace::Trace& trace,
                    const experiment::Resolved& configuration, const machine::Machine& machine, Progress* progress);

}  // namespace rayreplay::report
