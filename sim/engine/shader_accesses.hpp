// Whether a launch's access stream has the recorded accesses of shaders (key stream.shader_accesses).
//
// Contract: "off": never. "on": as far as the trace has them; Missing where the launch has none. "auto": where the
// launch has all of them. A trace with accesses of one thread in N (capture --profile-memory-sample N), and a launch
// that lost some (missing_accesses.hpp), has too few for an answer about all: `auto` leaves them out, `on` takes them
// as they are and nothing is scaled; a note says so in both cases, and how much is missing.
#pragma once

#include <string>
#include <vector>

#include "sim/engine/experiment.hpp"

namespace rayreplay::experiment {

[[nodiscard]] bool takes_shader_accesses(const Experiment& experiment);

/// Notes for the result: that only a sample of threads has accesses, that some were lost; that a pixel's size is given;
/// in memory time, that latencies of calls already contain the waits for these accesses.
[[nodiscard]] std::vector<std::string> shader_access_notes(const Experiment& experiment);

}  // namespace rayreplay::experiment
