// Whether a launch's access stream has the recorded accesses of shaders (key stream.shader_accesses).
//
// Contract: "off": never. "on": as far as the trace has them; Missing where the launch has none. "auto": where the
// launch has those of all threads. A trace with accesses of one thread in N (capture --profile-memory-sample N) has too
// few for an answer about all: `auto` leaves them out, `on` takes them as they are and nothing is scaled; a note says
// so in both cases.
#pragma once

#include <string>
#include <vector>

#include "sim/engine/experiment.hpp"

namespace rayreplay::experiment {

[[nodiscard]] bool takes_shader_accesses(const Experiment& experiment);

/// What the result has to say about it: threads without recorded accesses; a pixel's size that is given; in memory
/// time, latencies of calls that hold the same waits.
[[nodiscard]] std::vector<std::string> shader_access_notes(const Experiment& experiment);

}  // namespace rayreplay::experiment
