// Which warp's work goes to which SM: the schedule of a launch, as experiments about caches choose it. Internal to this
// room and to sim/engine.
//
// Contract: `schedule` is a work distribution's spec, or "auto": the captured one where the trace has warps on several
// SMs and neither order nor packing is another one, else "launch". `note` says what was assumed, why `auto` did not
// take the captured one, and what order and packing do not change. Errors: those of the distribution.
#pragma once

#include <cstdint>
#include <string>

#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/machine/work_distribution.hpp"

namespace rayreplay::experiment {

/// How a launch's threads are packed into warps.
struct Placement {
  std::string order, packing;  ///< resolved specs
  const scheduler::WarpAssignment& in_order;
  const scheduler::WarpAssignment& packed;
};

struct LaunchSchedule {
  machine::WorkPlan plan;
  std::string distribution;  ///< resolved spec
  bool captured_sms = false;
  std::string note;
};

[[nodiscard]] LaunchSchedule schedule_launch(const trace::Launch& launch, const Placement& placement,
                                             const std::string& schedule, std::uint32_t sms);

}  // namespace rayreplay::experiment
