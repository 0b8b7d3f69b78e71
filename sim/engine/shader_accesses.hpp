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

inline constexpr const char* kCyclesPerInstruction = "scheduler.cycles_per_instruction";

[[nodiscard]] bool takes_shader_accesses(const Experiment& experiment);

/// Cycles of an instruction contain a share for the waits of shaders' loads. Memory time with captured accesses waits
/// for the loads themselves, so there the key is that of arithmetic alone unless it is set (decided_value.hpp); the
/// fluid model beside it has no such waits and keeps the usual number. `experiment`: the one to which the settings
/// belong, whether they are complete or not.
void decide_cycles(Settings& settings, const Experiment& experiment);
/// Whether decide_cycles would change the settings of the experiment, or has.
[[nodiscard]] bool has_cycles_to_decide(const Experiment& experiment);
/// Whether the number is that of arithmetic alone because of captured accesses.
[[nodiscard]] bool are_cycles_decided(const Settings& settings);

/// Notes for the result: that only a sample of threads has accesses, that some were lost; that a pixel's size is given;
/// in memory time, that latencies of calls already contain the waits for these accesses.
[[nodiscard]] std::vector<std::string> shader_access_notes(const Experiment& experiment);

}  // namespace rayreplay::experiment
