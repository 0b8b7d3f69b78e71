// The result file of `rayreplay explain`: columns beside the trace (HDF5).
//
// Contract: the bytes of an HDF5 file, the same for the same answer. Root attributes: `schema` ("rayreplay.explain/2"),
// `tool_version`, `trace_hash`, `launch`, `kinds` (names, in the order of the numbers below), `configuration` (JSON).
//   /tests    event u64, ray u64, kind u8, t_enter f32 (NaN: the original box is not met in [t_min, t_max]), in order
//             of events; rows of the launch's events and rays. Not there for simulated tests, which are no events
//   /rays     counts u32 [rays × kinds], t_star f32 (infinity: no hit; NaN: no test needed it)
//   /threads  counts u64 [threads × kinds]
//   /objects  instance, geometry, primitive u32, counts u64 [objects × kinds]; objects with tests only
// Columns are compressed (shuffle, deflate). Memory: twice the file. Errors: Internal if libhdf5 fails.
#pragma once

#include <string>

#include "app/report/explain/explain.hpp"

namespace rayreplay::report {

/// The classification must include results per test (unless simulated) and per ray.
[[nodiscard]] std::string explain_file(const Explanation& explanation);

}  // namespace rayreplay::report
