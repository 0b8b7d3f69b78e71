// Live state and payload of a launch's threads: the bytes that they keep and pass while a hit or miss shader waits.
//
// Contract: `live_state` has means over the launch's closest-hit and miss calls. Each call has the bytes live across
// the trace call that began its ray (capture/spirv/liveness.hpp), and those of that trace call's payload. A thread that
// goes to another warp between traversal and shader takes the payload along, because caller and shader share it. Where
// the payload goes through memory instead, only the rest moves (`besides_payload`): no byte is charged twice. Hit
// objects and the state of outer shaders of a recursion are left out. Calls for rays that a shader without
// analysed SPIR-V began do not count; if there are no others, both numbers are assumed. Modules are untrusted: no
// module makes it throw. O(events) and an analysis of each module that traces (capture/spirv/facts.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/machine/origin.hpp"
#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::machine {

struct LiveState {
  double bytes = scheduler::kAssumedLiveState;  ///< with the payload
  double payload = memory::kAssumedPayload;
  Origin origin = Origin::Assumed;  ///< of both; or Counted

  /// The live state of a thread whose payload does not move with it. An assumed live state stays what it is: nobody
  /// knows the payload's part of it.
  [[nodiscard]] LiveState besides_payload() const {
    return origin == Origin::Counted ? LiveState{bytes - payload, payload, origin} : *this;
  }
  /// The payload's bytes in whole words of 4, rounded up, at most `most`.
  [[nodiscard]] std::uint32_t payload_in_words(std::uint32_t most) const;
};

[[nodiscard]] LiveState live_state(const trace::Trace& trace, const trace::Launch& launch);

/// Whether the scheduler model charges for the launch's live state.
[[nodiscard]] bool depends_on_live_state(const std::string& model);

}  // namespace rayreplay::machine
