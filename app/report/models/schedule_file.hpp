// A regrouped schedule as a file, for cache models and other tools: warps of segments with place and time.
//
// Contract: HDF5, schema rayreplay.schedule/1. Attributes of the root: schema, tool_version, trace_hash, launch, model
// (resolved spec), machine (its whole TOML), order, policy, warp_size, sms. One row a warp in `warps`, in the
// schedule's order: sm, slot, unit, round, moved (u32), start, end (cycles, f64). One row a place (warp · warp_size +
// lane) in `places`: segment, thread (u32; 0xFFFFFFFF: empty), first_event (u64, a row of the launch's events), events
// (u32; 0: empty). A thread's events are those of its segments, ascending. Written in pieces; memory 4 bytes a segment.
// The file is complete or absent. Requires a row with schedule, segments and placement. Errors: Output.
#pragma once

#include <string>

#include "base/progress.hpp"
#include "capture/trace/trace.hpp"
#include "sim/comparison/compare.hpp"

namespace rayreplay::report {

void write_schedule(const std::string& path, bool force, const experiment::CompareRow& row, const trace::Trace& trace,
                    const experiment::Resolved& configuration, const machine::Machine& machine, Progress* progress);

}  // namespace rayreplay::report
