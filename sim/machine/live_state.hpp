// Live state of a launch's threads: the bytes that a thread must keep while a hit or miss shader waits to run.
//
// Contract: `live_state` is a mean over the launch's closest-hit and miss calls. Each has the bytes live across the
// trace call that began its ray (capture/spirv/liveness.hpp), and those of that trace call's payload. A thread that
// goes to another warp between traversal and shader takes the payload along, because caller and shader share it. Hit
// objects and the state of outer shaders of a recursion are left out. Calls for rays that a shader without
// analysed SPIR-V began do not count; if there are no others, the result is assumed. Modules are untrusted: no module
// makes it throw. O(events) and an analysis of each module that traces (capture/spirv/facts.hpp).
#pragma once

#include <string>

#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/machine/origin.hpp"

namespace rayreplay::machine {

struct LiveState {
  double bytes = scheduler::kAssumedLiveState;
  Origin origin = Origin::Assumed;  ///< or Counted
};

[[nodiscard]] LiveState live_state(const trace::Trace& trace, const trace::Launch& launch);

/// Whether the scheduler model charges for the launch's live state.
[[nodiscard]] bool depends_on_live_state(const std::string& model);

}  // namespace rayreplay::machine
